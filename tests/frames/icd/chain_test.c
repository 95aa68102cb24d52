/* Chains without some of their structs: the caller's memory is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/icd/chain.h"

#define NEWER ((VkStructureType)1999999000)

/* Two that go, and four others. */
struct structs {
    VkPhysicalDeviceFeatures2 first;
    VkPhysicalDevicePresentIdFeaturesKHR id;
    VkPhysicalDeviceVulkan12Features second;
    VkPhysicalDevicePresentWaitFeaturesKHR wait;
    VkPhysicalDeviceRobustness2FeaturesEXT third;
    VkPhysicalDeviceMultiviewFeatures newer; /* by its type */
};

static bool leaves_out(VkStructureType type)
{
    return type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR ||
        type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR;
}

static struct structs *make(void)
{
    struct structs *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(s != MAP_FAILED);
    s->first.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    s->id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR;
    s->second.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    s->wait.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR;
    s->third.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
    s->newer.sType = NEWER;
    /* The last member of each. */
    s->first.features.inheritedQueries = VK_TRUE;
    s->second.subgroupBroadcastDynamicId = VK_TRUE;
    s->third.nullDescriptor = VK_TRUE;
    return s;
}

/* In this order, ended by NULL; then nobody can write to them. */
static const void *chain(struct structs *s, void *const *order)
{
    for (size_t i = 0; order[i]; i++)
        ((VkBaseOutStructure *)order[i])->pNext = order[i + 1];
    assert_int_equal(mprotect(s, sizeof *s, PROT_READ), 0);
    return order[0];
}

static void is_same_but_for_its_link(const void *a, const void *b, size_t bytes)
{
    const size_t head = sizeof(VkBaseInStructure);

    assert_memory_equal((const char *)a + head, (const char *)b + head, bytes - head);
}

static void a_chain_with_nothing_to_leave_out_is_itself(void **state)
{
    struct structs *s = make();
    const void *first = chain(s, (void *[]){&s->newer, &s->first, &s->second, NULL});
    struct tp_chain c;

    (void)state;
    assert_int_equal(tp_chain_without(first, leaves_out, &c), 0);
    assert_ptr_equal(c.first, first);
    tp_chain_finish(&c);
    assert_int_equal(tp_chain_without(NULL, leaves_out, &c), 0);
    assert_null(c.first);
    tp_chain_finish(&c);
    munmap(s, sizeof *s);
}

static void what_is_before_them_is_copied_whole_and_what_is_behind_is_not(void **state)
{
    struct structs *s = make();
    const void *first =
        chain(s, (void *[]){&s->id, &s->first, &s->second, &s->wait, &s->third, &s->newer, NULL});
    struct tp_chain c;

    (void)state;
    assert_int_equal(tp_chain_without(first, leaves_out, &c), 0);
    const VkPhysicalDeviceFeatures2 *a = c.first;
    assert_int_equal(a->sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    is_same_but_for_its_link(a, &s->first, sizeof *a);
    const VkPhysicalDeviceVulkan12Features *b = a->pNext;
    assert_int_equal(b->sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    is_same_but_for_its_link(b, &s->second, sizeof *b);
    assert_ptr_equal(b->pNext, &s->third);
    assert_ptr_equal(s->third.pNext, &s->newer);
    tp_chain_finish(&c);
    munmap(s, sizeof *s);
}

static void a_chain_of_nothing_else_is_none(void **state)
{
    struct structs *s = make();
    const void *first = chain(s, (void *[]){&s->wait, &s->id, NULL});
    struct tp_chain c;

    (void)state;
    assert_int_equal(tp_chain_without(first, leaves_out, &c), 0);
    assert_null(c.first);
    tp_chain_finish(&c);
    munmap(s, sizeof *s);
}

static void behind_one_of_a_size_that_nobody_knows_they_are_unlinked_for_a_time(void **state)
{
    struct structs *s = make();
    const void *first = chain(s, (void *[]){&s->id, &s->newer, &s->wait, &s->third, NULL});
    struct structs before = *s;
    struct tp_chain c;

    (void)state;
    assert_int_equal(mprotect(s, sizeof *s, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(tp_chain_without(first, leaves_out, &c), 0);
    assert_ptr_equal(c.first, &s->newer);
    assert_ptr_equal(s->newer.pNext, &s->third);
    tp_chain_finish(&c);
    assert_memory_equal(s, &before, sizeof before);
    munmap(s, sizeof *s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_with_nothing_to_leave_out_is_itself),
        cmocka_unit_test(what_is_before_them_is_copied_whole_and_what_is_behind_is_not),
        cmocka_unit_test(a_chain_of_nothing_else_is_none),
        cmocka_unit_test(behind_one_of_a_size_that_nobody_knows_they_are_unlinked_for_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
