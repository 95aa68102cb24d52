/* What is known of the libraries that an Android driver may name. */
#ifndef TP_FACTORY_INSPECT_ELF_LIBRARIES_H
#define TP_FACTORY_INSPECT_ELF_LIBRARIES_H

enum tp_library_place {
    TP_LIBRARY_ANDROID, /* every Android of its level has it for apps' drivers */
    TP_LIBRARY_VENDOR,  /* phones with the vendor's own driver have it, each in its version */
    TP_LIBRARY_REFUSED, /* not to be named */
    TP_LIBRARY_UNKNOWN,
};

struct tp_library {
    enum tp_library_place place;
    int since;       /* the first API level; TP_API_FIRST where it is not known to be later */
    const char *why; /* for a refused one: what happens */
};

/* name: as in DT_NEEDED. */
struct tp_library tp_library_known(const char *name);

#endif
