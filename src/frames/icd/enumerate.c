#include "frames/icd/enumerate.h"

#include <stdlib.h>
#include <string.h>

#include "frames/icd/extension.h"

struct list {
    uint32_t n, room;
    VkExtensionProperties *out;
};

static void add(struct list *l, const VkExtensionProperties *p)
{
    if (l->out && l->n < l->room)
        l->out[l->n] = *p;
    l->n++;
}

VkResult tp_icd_merge_extensions(const VkExtensionProperties *theirs, uint32_t n_theirs,
    uint64_t offers, uint32_t *count, VkExtensionProperties *out)
{
    struct list l = {.room = *count, .out = out};

    for (uint32_t i = 0; i < n_theirs; i++) {
        int ours = tp_icd_extension_find(theirs[i].extensionName);
        bool replaced = ours >= 0 && offers & TP_BIT(ours);
        if (!replaced && !tp_icd_extension_hidden(theirs[i].extensionName))
            add(&l, &theirs[i]);
    }
    for (const struct tp_icd_extension_info *x = tp_icd_extensions; x->name; x++) {
        VkExtensionProperties p = {.specVersion = x->version};
        strcpy(p.extensionName, x->name);
        if (offers & TP_BIT(x->bit))
            add(&l, &p);
    }
    *count = out && l.n > l.room ? l.room : l.n;
    return out && l.n > l.room ? VK_INCOMPLETE : VK_SUCCESS;
}

static bool listed(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(names[i], name))
            return true;
    }
    return false;
}

static bool has(const VkExtensionProperties *theirs, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(theirs[i].extensionName, name))
            return true;
    }
    return false;
}

VkResult tp_icd_translate_extensions(const char *const *names, uint32_t n,
    const VkExtensionProperties *theirs, uint32_t n_theirs, uint64_t offers, unsigned need_first,
    unsigned need_end, const char ***out, uint32_t *n_out, uint64_t *enabled)
{
    const char **list = calloc(n + (need_end - need_first) + 1, sizeof *list);
    uint32_t m = 0;

    if (!list)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *enabled = 0;
    for (uint32_t i = 0; i < n; i++) {
        int ours = tp_icd_extension_find(names[i]);
        if (ours >= 0 && offers & TP_BIT(ours)) {
            *enabled |= TP_BIT(ours);
        } else if (tp_icd_extension_hidden(names[i])) {
            free(list);
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        } else {
            list[m++] = names[i];
        }
    }
    for (unsigned i = need_first; i < need_end; i++) {
        const char *name = tp_icd_need_name(i);
        if (has(theirs, n_theirs, name) && !listed(list, m, name))
            list[m++] = name;
    }
    *out = list;
    *n_out = m;
    return VK_SUCCESS;
}
