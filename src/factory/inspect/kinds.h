/* What a file is, among all that people try to import. */
#ifndef TP_FACTORY_INSPECT_KINDS_H
#define TP_FACTORY_INSPECT_KINDS_H

#include "factory/inspect/zip_view.h"

enum tp_kind {
    TP_KIND_UNKNOWN,  /* neither a zip nor an ELF file */
    TP_KIND_DRIVER,   /* a library alone */
    TP_KIND_DAMAGED,  /* a zip whose directory cannot be read */
    TP_KIND_ANDROID,  /* an Adrenotools archive */
    TP_KIND_LINUX,    /* the same for WinNative's Linux */
    TP_KIND_QUALCOMM, /* an Adrenotools archive of Qualcomm's own driver */
    TP_KIND_FOLDER,   /* one of the three above, packed with its folder */
    TP_KIND_MODULE,   /* for Magisk or KernelSU */
    TP_KIND_NESTED,   /* an archive around archives */
    TP_KIND_NO_DRIVER,
    TP_KIND_TOO_LARGE, /* it is not looked into */
};

/* The word of reports: "adrenotools", …. */
const char *tp_kind_name(enum tp_kind kind);
/* In words for a person: "an Adrenotools archive". */
const char *tp_kind_words(enum tp_kind kind);

/* What other kind of file its first bytes tell, with its article: "a 7z archive"; never NULL. */
const char *tp_kind_guess(const void *bytes, size_t len);

/* A whole zip's kind as far as its entries' names tell: MODULE, NESTED, NO_DRIVER, QUALCOMM, or
 * ANDROID for all others. */
enum tp_kind tp_kind_of_entries(const struct tp_zip_view *zip);

#endif
