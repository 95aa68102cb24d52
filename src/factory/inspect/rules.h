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
