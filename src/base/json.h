/* Reading JSON whose members may be missing. */
#ifndef TP_BASE_JSON_H
#define TP_BASE_JSON_H

#include <jansson.h>
#include <string.h>

/* A member's text, borrowed; "" where the object, the member or its type is another. */
static inline const char *tp_json_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* The first object of an array whose member `key` is this text, borrowed; NULL: there is none. */
static inline json_t *tp_json_find(const json_t *array, const char *key, const char *text)
{
    size_t i;
    json_t *one;
    json_array_foreach(array, i, one)
    {
        const char *s = json_string_value(json_object_get(one, key));
        if (s && !strcmp(s, text))
            return one;
    }
    return NULL;
}

#endif
