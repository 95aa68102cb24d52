#include "cli/parse.h"

#include <errno.h>
#include <stdlib.h>

bool tp_parse_number(const char **at, unsigned long max, unsigned long *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoul(*at, &end, 10);
    if (errno || *out > max)
        return false;
    *at = end;
    return true;
}

bool tp_parse_thousandths(const char **at, unsigned long max, uint64_t *out)
{
    unsigned long whole, fraction = 0, unit = 1000;
    if (!tp_parse_number(at, max, &whole))
        return false;
    if (**at == '.') {
        for (++*at; **at >= '0' && **at <= '9'; ++*at)
            if (unit > 1)
                fraction += (unsigned long)(**at - '0') * (unit /= 10);
    }
    *out = (uint64_t)whole * 1000 + fraction;
    return *out <= (uint64_t)max * 1000;
}

bool tp_parse_hz(const char **at, uint32_t *mhz)
{
    uint64_t n;
    if (!tp_parse_thousandths(at, 1000, &n))
        return false;
    *mhz = (uint32_t)n;
    return n >= 1000;
}

bool tp_parse_size(const char **at, uint32_t *width_px, uint32_t *height_px)
{
    unsigned long w, h;
    if (!tp_parse_number(at, 16384, &w) || *(*at)++ != 'x' || !tp_parse_number(at, 16384, &h))
        return false;
    *width_px = (uint32_t)w;
    *height_px = (uint32_t)h;
    return w > 0 && h > 0;
}
