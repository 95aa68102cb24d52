/* The names of everything that `turnpike inspect` can say of a file. A new one: a line here, a row in
 * rules.c (a test sees to it that each has its row). */
#ifndef TP_FACTORY_INSPECT_RULES_H
#define TP_FACTORY_INSPECT_RULES_H

enum tp_severity {
    TP_SEVERITY_NOTE,    /* worth knowing; nothing is wrong */
    TP_SEVERITY_WARNING, /* it works, though not everywhere or not as well as it could */
    TP_SEVERITY_ERROR,   /* some app or phone that it is meant for refuses it or fails with it */
};

enum tp_rule_id {
    /* elf-…: the driver itself. */
    TP_RULE_ELF_HEADER,
    TP_RULE_ELF_DAMAGED,
    TP_RULE_ELF_MACHINE,
    TP_RULE_ELF_TYPE,
    TP_RULE_ELF_PAGE_SIZE,
    TP_RULE_ELF_TEXTREL,
    TP_RULE_ELF_WRITABLE_CODE,
    TP_RULE_ELF_STACK,
    TP_RULE_ELF_SONAME,
    TP_RULE_ELF_SEARCH_PATH,
    TP_RULE_ELF_NEEDED_PATH,
    TP_RULE_ELF_NEEDED,
    TP_RULE_ELF_LIBC,
    TP_RULE_ELF_EXPORTS,
    TP_RULE_ELF_EMUTLS,
    TP_RULE_ELF_TLS,
    TP_RULE_ELF_STATIC_TLS,
    TP_RULE_ELF_RELR,
    TP_RULE_ELF_RELOCATIONS,
    TP_RULE_ELF_HASH,
    TP_RULE_ELF_API,
    TP_RULE_ELF_SYMBOL,
    TP_RULE_ELF_BUILD_ID,
    TP_RULE_ELF_DEBUG,
    TP_RULE_ELF_NOTE,
    TP_RULE_ELF_VARIANT,
    /* kind-…, file-…: what the file is at all. */
    TP_RULE_KIND_UNKNOWN,
    TP_RULE_KIND_NO_DRIVER,
    TP_RULE_KIND_MODULE,
    TP_RULE_KIND_NESTED,
    TP_RULE_KIND_BARE,
    TP_RULE_FILE_TOO_LARGE,
    /* zip-…: the archive. */
    TP_RULE_ZIP_TRUNCATED,
    TP_RULE_ZIP_DAMAGED,
    TP_RULE_ZIP_SPLIT,
    TP_RULE_ZIP_TWO_ENDS,
    TP_RULE_ZIP_PREFIX,
    TP_RULE_ZIP_GAP,
    TP_RULE_ZIP_TRAILING,
    TP_RULE_ZIP_OVERLAP,
    TP_RULE_ZIP_LOCAL_DIFFERS,
    TP_RULE_ZIP_STORED_DESCRIPTOR,
    TP_RULE_ZIP_ZIP64,
    TP_RULE_ZIP_SIZE_LIES,
    TP_RULE_ZIP_CRC,
    TP_RULE_ZIP_BOMB,
    TP_RULE_ZIP_TOO_LARGE,
    TP_RULE_ZIP_TOO_MANY,
    TP_RULE_ZIP_PATH,
    TP_RULE_ZIP_LINK,
    TP_RULE_ZIP_FOLDER,
    TP_RULE_ZIP_NAME,
    TP_RULE_ZIP_DUPLICATE,
    TP_RULE_ZIP_CASE,
    TP_RULE_ZIP_ENCRYPTED,
    TP_RULE_ZIP_METHOD,
    /* meta-…, library-…: what meta.json says, and of which library. */
    TP_RULE_META_MISSING,
    TP_RULE_META_OTHER_JSON,
    TP_RULE_META_SIZE,
    TP_RULE_META_ENCODING,
    TP_RULE_META_SYNTAX,
    TP_RULE_META_DUPLICATE,
    TP_RULE_META_DEPTH,
    TP_RULE_META_KEY_MISSING,
    TP_RULE_META_KEY_UNKNOWN,
    TP_RULE_META_TYPE,
    TP_RULE_META_SCHEMA,
    TP_RULE_META_NAME,
    TP_RULE_META_API,
    TP_RULE_META_PLATFORM,
    TP_RULE_META_ADPKG,
    TP_RULE_LIBRARY_NAME,
    TP_RULE_LIBRARY_HASH,
    TP_RULE_LIBRARY_PLATFORMS,
    /* asset-…: the file's own name. */
    TP_RULE_ASSET_NAME,
    TP_RULE_ASSET_VARIANT,

    TP_RULES,
};

struct tp_rule {
    const char *id; /* the stable word of reports and scripts */
    enum tp_severity severity;
    const char *holds; /* the rule, in a phrase */
    const char *why;   /* what happens where it is broken, and on which Android or app; may be NULL */
    const char *fix;   /* what to do about it */
};

/* Never NULL. */
const struct tp_rule *tp_rule_of(enum tp_rule_id id);
/* "error", "warning", "note". */
const char *tp_severity_name(enum tp_severity severity);

#endif
