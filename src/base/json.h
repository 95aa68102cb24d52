/* Reading JSON whose members may be missing. */
#ifndef TP_BASE_JSON_H
#define TP_BASE_JSON_H

#include <jansson.h>

/* A member's text, borrowed; "" where the object, the member or its type is another. */
static inline const char *tp_json_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

#endif
