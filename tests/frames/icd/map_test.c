/* The map of handles: against a plain list, and read while it is written. */
#include "frames/icd/map.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KEYS = 500 };
static char objects[KEYS], values[KEYS];

static void it_knows_what_was_put_and_not_removed(void **state)
{
    struct tp_map map = TP_MAP_INIT;
    bool there[KEYS] = {false};
    unsigned seed = 1;

    (void)state;
    assert_null(tp_map_get(&map, &objects[0]));
    assert_null(tp_map_remove(&map, &objects[0]));
    for (int i = 0; i < 20000; i++) {
        int k = rand_r(&seed) % KEYS;
        if (rand_r(&seed) % 2) {
            assert_int_equal(tp_map_put(&map, &objects[k], &values[k]), 0);
            there[k] = true;
        } else {
            assert_ptr_equal(tp_map_remove(&map, &objects[k]), there[k] ? &values[k] : NULL);
            there[k] = false;
        }
        k = rand_r(&seed) % KEYS;
        assert_ptr_equal(tp_map_get(&map, &objects[k]), there[k] ? &values[k] : NULL);
    }
    assert_null(tp_map_get(&map, NULL));
    tp_map_finish(&map);
}

static void what_comes_and_goes_does_not_take_one_table_after_another(void **state)
{
    struct tp_map map = TP_MAP_INIT;
    const char *objects_of_a_year = (const char *)(uintptr_t)0x1000;

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(tp_map_put(&map, &objects[i], &values[i]), 0);
    struct tp_map_table *table = map.table;
    unsigned tables = 1;
    for (size_t i = 0; i < 100000; i++) {
        const void *key = objects_of_a_year + 16 * i;
        assert_int_equal(tp_map_put(&map, key, &values[5]), 0);
        assert_ptr_equal(tp_map_get(&map, key), &values[5]);
        if (i > 0)
            assert_non_null(tp_map_remove(&map, objects_of_a_year + 16 * (i - 1)));
        assert_ptr_equal(tp_map_get(&map, &objects[i % 5]), &values[i % 5]);
        tables += map.table != table;
        table = map.table;
    }
    assert_in_range(tables, 1, 3);
    tp_map_finish(&map);
}

static struct tp_map shared = TP_MAP_INIT;
static _Atomic bool done;

static void *read_one(void *data)
{
    while (!done)
        assert_ptr_equal(tp_map_get(&shared, data), data);
    return NULL;
}

static void a_key_is_found_while_others_come_and_go(void **state)
{
    pthread_t threads[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tp_map_put(&shared, &objects[i], &objects[i]), 0);
        assert_int_equal(pthread_create(&threads[i], NULL, read_one, &objects[i]), 0);
    }
    for (int round = 0; round < 100; round++) {
        for (int i = 2; i < KEYS; i++)
            assert_int_equal(tp_map_put(&shared, &objects[i], &values[i]), 0);
        for (int i = 2; i < KEYS; i++)
            tp_map_remove(&shared, &objects[i]);
    }
    done = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tp_map_finish(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_what_was_put_and_not_removed),
        cmocka_unit_test(what_comes_and_goes_does_not_take_one_table_after_another),
        cmocka_unit_test(a_key_is_found_while_others_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
