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
/* VkPhysicalDeviceMaintenance5Features, of headers from 1.3.260 on. */
#define MAINTENANCE5 ((VkStructureType)1000470000)

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

static void those_of_newer_headers_are_copied_too(void **state)
{
    struct structs *s = make();
    struct tp_chain c;

    (void)state;
    s->newer.sType = MAINTENANCE5;
    s->newer.multiview = VK_TRUE;
    const void *first = chain(s, (void *[]){&s->newer, &s->id, &s->third, NULL});
    assert_int_equal(tp_chain_without(first, leaves_out, &c), 0);
    const VkPhysicalDeviceMultiviewFeatures *a = c.first;
    assert_ptr_not_equal(a, &s->newer);
    assert_int_equal(a->sType, MAINTENANCE5);
    assert_int_equal(a->multiview, VK_TRUE);
    assert_ptr_equal(a->pNext, &s->third);
    tp_chain_finish(&c);
    munmap(s, sizeof *s);
}

static void one_of_a_size_that_nobody_knows_is_copied_as_far_as_there_is_memory(void **state)
{
    struct structs *s = make();
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *room = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct tp_chain c;

    (void)state;
    assert_true(room != MAP_FAILED);
    assert_int_equal(munmap(room + 2 * page, page), 0);
    /* Its last byte is the last that can be read; across two pages; and with room behind it. */
    const size_t places[] = {2 * page - sizeof s->newer, page - 24, 0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        VkPhysicalDeviceMultiviewFeatures *newer = (void *)(room + places[i]);
        assert_int_equal(mprotect(s, sizeof *s, PROT_READ | PROT_WRITE), 0);
        assert_int_equal(mprotect(room, 2 * page, PROT_READ | PROT_WRITE), 0);
        *newer = (VkPhysicalDeviceMultiviewFeatures){
            .sType = NEWER, .multiviewTessellationShader = VK_TRUE};
        const void *first = chain(s, (void *[]){&s->id, newer, &s->wait, &s->third, NULL});
        assert_int_equal(mprotect(room, 2 * page, PROT_READ), 0);
        assert_int_equal(tp_chain_without(first, leaves_out, &c), 0);
        const VkPhysicalDeviceMultiviewFeatures *a = c.first;
        assert_ptr_not_equal(a, newer);
        assert_int_equal(a->sType, NEWER);
        is_same_but_for_its_link(a, newer, sizeof *a);
        assert_ptr_equal(a->pNext, &s->third);
        assert_ptr_equal(newer->pNext, &s->wait);
        tp_chain_finish(&c);
    }
    munmap(room, 2 * page);
    munmap(s, sizeof *s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_with_nothing_to_leave_out_is_itself),
        cmocka_unit_test(what_is_before_them_is_copied_whole_and_what_is_behind_is_not),
        cmocka_unit_test(a_chain_of_nothing_else_is_none),
        cmocka_unit_test(those_of_newer_headers_are_copied_too),
        cmocka_unit_test(one_of_a_size_that_nobody_knows_is_copied_as_far_as_there_is_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
