#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/crc32.h"

/* ITU-T V.42's polynomial; the check value of catalogues for CRC-32/ISO-HDLC. */
static void the_check_value_is_the_catalogues(void **state)
{
    (void)state;
    assert_int_equal(tp_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(tp_crc32(0, "", 0), 0);
}

static void it_is_zlibs_in_one_go_and_in_parts(void **state)
{
    uint8_t bytes[2000];
    uint32_t seed = 1;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (size_t n = 0; n <= sizeof bytes; n += 37) {
        uint32_t whole = (uint32_t)crc32(crc32(0, NULL, 0), bytes, (uInt)n);
        assert_int_equal(tp_crc32(0, bytes, n), whole);
        assert_int_equal(tp_crc32(tp_crc32(0, bytes, n / 3), bytes + n / 3, n - n / 3), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_value_is_the_catalogues),
        cmocka_unit_test(it_is_zlibs_in_one_go_and_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
