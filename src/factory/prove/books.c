#include "factory/prove/books.h"

#include <string.h>

#include "base/buf.h"

char *tp_books_left(const json_t *calls, bool *closed)
{
    static const char *const books[] = {"leaked_contexts", "leaked_buffers", "leaked_timelines"};
    struct tp_buf left = {0};
    size_t i;
    json_t *line;
    *closed = false;
    json_array_foreach(calls, i, line)
    {
        const char *call = json_string_value(json_object_get(line, "call"));
        if (!call || (strcmp(call, "close") != 0 && strcmp(call, "exit") != 0))
            continue;
        *closed = true;
        for (size_t k = 0; k < sizeof books / sizeof *books; k++) {
            json_int_t n = json_integer_value(json_object_get(line, books[k]));
            if (n > 0)
                tp_buf_addf(&left, "%s%s %lld", left.len ? ", " : "", books[k], (long long)n);
            if (n > 0 && k == 1)
                tp_buf_addf(&left, " (%lld bytes)",
                            (long long)json_integer_value(json_object_get(line, "leaked_bytes")));
        }
    }
    if (left.len)
        return tp_buf_take(&left);
    tp_buf_finish(&left);
    return NULL;
}

bool tp_books_were_opened(const json_t *facts)
{
    return json_integer_value(json_object_get(facts, "device_count")) > 0;
}
