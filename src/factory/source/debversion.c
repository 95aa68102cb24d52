#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "factory/source/room.h"

/* '~' sorts before the end, the end before letters, letters before all else. */
static int order(int c)
{
    if (c == '~')
        return -1;
    if (!c || isdigit(c))
        return 0;
    return isalpha(c) ? c : c + 256;
}

static int compare_part(const char *a, const char *a_end, const char *b, const char *b_end)
{
    while (a < a_end || b < b_end) {
        while ((a < a_end && !isdigit((unsigned char)*a)) ||
            (b < b_end && !isdigit((unsigned char)*b))) {
            int x = order(a < a_end ? (unsigned char)*a : 0);
            int y = order(b < b_end ? (unsigned char)*b : 0);
            if (x != y)
                return x - y;
            a += a < a_end;
            b += b < b_end;
        }
        while (a < a_end && *a == '0')
            a++;
        while (b < b_end && *b == '0')
            b++;
        int first = 0;
        while (a < a_end && b < b_end && isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            if (!first)
                first = *a - *b;
            a++;
            b++;
        }
        if (a < a_end && isdigit((unsigned char)*a))
            return 1;
        if (b < b_end && isdigit((unsigned char)*b))
            return -1;
        if (first)
            return first;
    }
    return 0;
}

int tp_debversion_compare(const char *a, const char *b)
{
    const char *a_colon = strchr(a, ':'), *b_colon = strchr(b, ':');
    long x = a_colon ? strtol(a, NULL, 10) : 0, y = b_colon ? strtol(b, NULL, 10) : 0;
    if (x != y)
        return x < y ? -1 : 1;
    if (a_colon)
        a = a_colon + 1;
    if (b_colon)
        b = b_colon + 1;
    const char *a_end = a + strlen(a), *b_end = b + strlen(b);
    const char *a_dash = strrchr(a, '-'), *b_dash = strrchr(b, '-');
    int r = compare_part(a, a_dash ? a_dash : a_end, b, b_dash ? b_dash : b_end);
    if (r)
        return r;
    return compare_part(a_dash ? a_dash + 1 : a_end, a_end, b_dash ? b_dash + 1 : b_end, b_end);
}
