/* A sound driver breaks no rule; each rule broken alone is named, and no other is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "elf_writer.h"
#include "factory/inspect/elf_check.h"

#define DRIVER "libvulkan_freedreno.so"

#define NOTE_OF(variant) NOTE_WITH(variant, "power-max")
#define NOTE_WITH(variant, patch)                                                                 \
    "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-" variant                    \
    "\", \"variant\": \"" variant "\", \"target\": \"android-arm64\", \"mesa\": \"25.0.7\", "      \
    "\"patches\": [{\"id\": \"" patch "\", \"state\": \"applied\"}]}"

/* mov w1, #0x932; mov x0, x2; movk w1, #0x4018, lsl #16: as clang calls ioctl(fd, 0x40180932, …). */
static const uint32_t sets_property[] = {0x52812641, 0xaa0203e0, 0x72a80301};

static struct tp_elf_ask android_ask(void)
{
    return (struct tp_elf_ask){.min_api = 29, .library_name = DRIVER};
}

static struct tp_elf_ask linux_ask(void)
{
    return (struct tp_elf_ask){.platform = TP_PLATFORM_LINUX, .library_name = DRIVER};
}

struct report {
    struct tp_findings findings;
    struct tp_elf_facts facts;
};

static struct report check(const struct elf_shape *shape, const struct tp_elf_ask *ask)
{
    struct report r = {0};
    struct tp_buf file = elf_write(shape);
    elf_check_bytes(file.data, file.len, "driver", ask, &r.findings, &r.facts);
    tp_buf_finish(&file);
    return r;
}

static void finish(struct report *r)
{
    tp_findings_finish(&r->findings);
    tp_elf_facts_finish(&r->facts);
}

static void print_all(const struct report *r)
{
    for (size_t i = 0; i < r->findings.n; i++)
        print_error("  %s: %s\n", tp_rule_of(r->findings.list[i].rule)->id, r->findings.list[i].text);
}

/* One finding of this rule whose text holds the words, and nothing else. */
static void expect_alone(const char *name, struct report r, enum tp_rule_id rule, const char *words)
{
    if (r.findings.n != 1 || r.findings.list[0].rule != rule) {
        print_all(&r);
        fail_msg("%s: %zu findings, not %s alone", name, r.findings.n, tp_rule_of(rule)->id);
    }
    if (!strstr(r.findings.list[0].text, words))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, r.findings.list[0].text, words);
    assert_true(*r.findings.list[0].fix != 0);
    assert_string_equal(r.findings.list[0].where, "driver");
    finish(&r);
}

static void expect_none(const char *name, struct report r)
{
    if (r.findings.n) {
        print_all(&r);
        fail_msg("%s: %zu findings, not none", name, r.findings.n);
    }
    finish(&r);
}

static void a_sound_driver_breaks_no_rule(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    expect_none("android", check(&shape, &ask));
    shape.tls = true;
    shape.note = NOTE_OF("b");
    ask.ours = true;
    ask.variant = 'b';
    ask.driver_version = "WN-25.0.7-b";
    expect_none("android, ours", check(&shape, &ask));
    shape = elf_linux();
    ask = linux_ask();
    expect_none("linux", check(&shape, &ask));
}

/* Changes one thing of a sound Android driver and what is declared of it. */
struct fault {
    const char *name;
    void (*change)(struct elf_shape *shape, struct tp_elf_ask *ask);
    enum tp_rule_id rule;
    const char *words;
};

#define CHANGE(name) static void name(struct elf_shape *s, struct tp_elf_ask *a)

CHANGE(for_x86) { (void)a; s->machine = EM_X86_64; }
CHANGE(pages_of_4_kib) { (void)a; s->align = 4096; }
CHANGE(text_relocations) { (void)a; s->dynamic[0][0] = DT_TEXTREL; }
CHANGE(text_relocations_by_flag) { (void)a; s->dynamic[0][0] = DT_FLAGS; s->dynamic[0][1] = DF_TEXTREL; }
CHANGE(writable_code) { (void)a; s->code_flags = PF_R | PF_W | PF_X; }
CHANGE(executable_stack) { (void)a; s->stack_flags = PF_R | PF_W | PF_X; }
CHANGE(other_soname) { (void)a; s->soname = "vulkan.turnip.so"; }
CHANGE(no_soname) { (void)a; s->soname = NULL; }
CHANGE(renamed_file) { (void)s; a->library_name = "vulkan.ad07xx.so"; }
CHANGE(runpath) { (void)a; s->runpath = "/home/builder/lib"; }
CHANGE(rpath) { (void)a; s->rpath = "$ORIGIN/lib"; }
CHANGE(needed_path) { (void)a; s->needed[9] = "/system/lib64/libdrm.so"; }
CHANGE(needs_cxx) { (void)a; s->needed[9] = "libc++_shared.so"; }
CHANGE(needs_ui) { (void)a; s->needed[9] = "libui.so"; }
CHANGE(needs_vndksupport) { (void)a; s->needed[9] = "libvndksupport.so"; }
CHANGE(needs_unknown) { (void)a; s->needed[9] = "libzstd.so"; }
CHANGE(needs_vendors) { (void)a; s->needed[9] = "libgsl.so"; }
CHANGE(needs_glibc) { (void)a; s->needed[0] = "libc.so.6"; s->needed[1] = "libm.so.6"; }
CHANGE(needs_both) { (void)a; s->needed[9] = "libc.so.6"; }
CHANGE(glibc_versions) { (void)a; s->versions[0] = "GLIBC_2.17"; }
CHANGE(no_libc) { (void)a; s->needed[0] = "libm.so"; }
CHANGE(no_entry_point) { (void)a; s->symbols[0].name = "vk_icdGetInstanceProcAddr"; }
CHANGE(entry_point_wanted) { (void)a; s->symbols[0].undefined = s->symbols[0].weak = true; }
CHANGE(emulated_tls) { (void)a; s->symbols[7] = (struct elf_symbol){"__emutls_get_address", true}; }
CHANGE(tls_on_28) { s->tls = true; a->min_api = 28; }
CHANGE(static_tls)
{
    (void)a;
    s->tls = true;
    s->dynamic[0][0] = DT_FLAGS;
    s->dynamic[0][1] = DF_STATIC_TLS;
}
CHANGE(initial_exec) { (void)a; s->tls = true; s->relocation = R_AARCH64_TLS_TPREL; }
CHANGE(relr_on_29) { (void)a; s->dynamic[0][0] = 36; s->dynamic[0][1] = 1; }
CHANGE(androids_relr_on_27) { a->min_api = 27; s->dynamic[0][0] = 0x6fffe000; s->dynamic[0][1] = 1; }
CHANGE(packed_on_22)
{
    a->min_api = 22;
    s->needed[7] = s->needed[8] = NULL; /* which came with 26 */
    s->symbols[5].name = "free";
    s->dynamic[0][0] = 0x60000011;
    s->dynamic[0][1] = 1;
}
CHANGE(gnu_hash_on_22)
{
    a->min_api = 22;
    s->needed[7] = s->needed[8] = NULL;
    s->symbols[5].name = "free";
    s->gnu_hash = true;
}
CHANGE(no_hash) { (void)a; s->no_hash = true; }
CHANGE(library_on_25) { a->min_api = 25; s->needed[8] = NULL; s->symbols[5].name = "free"; }
CHANGE(call_once_on_29) { (void)a; s->symbols[7] = (struct elf_symbol){"call_once", true}; }
CHANGE(atrace_on_30)
{
    a->min_api = 30;
    s->symbols[7] = (struct elf_symbol){"atrace_get_enabled_tags", true};
}
CHANGE(symbol_of_nobody) { (void)a; s->symbols[7] = (struct elf_symbol){"pthread_cancel", true}; }
CHANGE(symbol_of_another) { (void)a; s->symbols[7] = (struct elf_symbol){"ASurfaceControl_create", true}; }
CHANGE(symbol_gone) { (void)a; s->symbols[7] = (struct elf_symbol){"strtoq", true}; }
CHANGE(no_build_id) { (void)a; s->no_build_id = true; }
CHANGE(debug_information) { (void)a; s->debug = true; }
CHANGE(no_note) { (void)s; a->ours = true; }
CHANGE(broken_note) { (void)a; s->note = "{"; }
CHANGE(other_version) { s->note = NOTE_OF("b"); a->driver_version = "WN-25.1.0-b"; }
CHANGE(p_in_b)
{
    s->note = NOTE_OF("p");
    s->code = sets_property;
    s->n_code = 3;
    a->variant = 'b';
    a->driver_version = "WN-25.0.7-b";
}
CHANGE(p_without_power) { (void)a; s->note = NOTE_OF("p"); }
CHANGE(b_with_power) { (void)a; s->note = NOTE_OF("b"); s->code = sets_property; s->n_code = 3; }
CHANGE(no_dynamic_header) { (void)a; s->no_dynamic_header = true; }

static void each_rule_broken_alone_is_named_alone(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"for x86", for_x86, TP_RULE_ELF_MACHINE, "x86-64"},
        {"4 KiB pages", pages_of_4_kib, TP_RULE_ELF_PAGE_SIZE, "aligned to 4096"},
        {"DT_TEXTREL", text_relocations, TP_RULE_ELF_TEXTREL, "DT_TEXTREL"},
        {"DF_TEXTREL", text_relocations_by_flag, TP_RULE_ELF_TEXTREL, "DT_TEXTREL"},
        {"writable code", writable_code, TP_RULE_ELF_WRITABLE_CODE, "writable"},
        {"executable stack", executable_stack, TP_RULE_ELF_STACK, "executable stack"},
        {"another SONAME", other_soname, TP_RULE_ELF_SONAME, "\"vulkan.turnip.so\", not"},
        {"no SONAME", no_soname, TP_RULE_ELF_SONAME, "no SONAME"},
        {"a bad rename", renamed_file, TP_RULE_ELF_SONAME, "libraryName's \"vulkan.ad07xx.so\""},
        {"RUNPATH", runpath, TP_RULE_ELF_SEARCH_PATH, "RUNPATH \"/home/builder/lib\""},
        {"RPATH", rpath, TP_RULE_ELF_SEARCH_PATH, "RPATH \"$ORIGIN/lib\""},
        {"needed by path", needed_path, TP_RULE_ELF_NEEDED_PATH, "/system/lib64/libdrm.so"},
        {"libc++_shared", needs_cxx, TP_RULE_ELF_NEEDED, "libc++_shared.so"},
        {"libui", needs_ui, TP_RULE_ELF_NEEDED, "libui.so"},
        {"libvndksupport", needs_vndksupport, TP_RULE_ELF_NEEDED, "libvndksupport.so"},
        {"unknown library", needs_unknown, TP_RULE_ELF_NEEDED, "libzstd.so, which no Android"},
        {"vendor's library", needs_vendors, TP_RULE_ELF_NEEDED, "libgsl.so, which the phone's vendor"},
        {"glibc", needs_glibc, TP_RULE_ELF_LIBC, "glibc (libc.so.6)"},
        {"both C libraries", needs_both, TP_RULE_ELF_LIBC, "both"},
        {"GLIBC_ versions", glibc_versions, TP_RULE_ELF_LIBC, "GLIBC_2.17"},
        {"no C library", no_libc, TP_RULE_ELF_LIBC, "no C library"},
        {"no HMI", no_entry_point, TP_RULE_ELF_EXPORTS, "HMI"},
        {"HMI undefined", entry_point_wanted, TP_RULE_ELF_EXPORTS, "HMI"},
        {"emulated TLS", emulated_tls, TP_RULE_ELF_EMUTLS, "__emutls_get_address"},
        {"TLS on 28", tls_on_28, TP_RULE_ELF_TLS, "minApi declares 28"},
        {"DF_STATIC_TLS", static_tls, TP_RULE_ELF_STATIC_TLS, "initial-exec"},
        {"TPREL relocation", initial_exec, TP_RULE_ELF_STATIC_TLS, "initial-exec"},
        {"RELR on 29", relr_on_29, TP_RULE_ELF_RELR, "API 30"},
        {"Android's RELR on 27", androids_relr_on_27, TP_RULE_ELF_RELR, "API 28"},
        {"packed relocations on 22", packed_on_22, TP_RULE_ELF_RELOCATIONS, "API 23"},
        {"GNU hash on 22", gnu_hash_on_22, TP_RULE_ELF_HASH, "DT_GNU_HASH"},
        {"no hash table", no_hash, TP_RULE_ELF_HASH, "no symbol hash table"},
        {"libnativewindow on 25", library_on_25, TP_RULE_ELF_NEEDED, "Android 8.0 (API 26)"},
        {"call_once on 29", call_once_on_29, TP_RULE_ELF_API,
         "call_once (libc.so, from Android 11, API 30, on), and minApi declares 29: on Android 10"},
        {"atrace on 30", atrace_on_30, TP_RULE_ELF_API,
         "atrace_get_enabled_tags (libcutils.so, from Android 12, API 31, on)"},
        {"nobody's symbol", symbol_of_nobody, TP_RULE_ELF_SYMBOL, "pthread_cancel, which no library"},
        {"library not named", symbol_of_another, TP_RULE_ELF_SYMBOL, "(libandroid.so) without naming"},
        {"symbol that is gone", symbol_gone, TP_RULE_ELF_SYMBOL, "gone after Android 13"},
        {"no build-id", no_build_id, TP_RULE_ELF_BUILD_ID, "no build-id"},
        {"debug information", debug_information, TP_RULE_ELF_DEBUG, ".debug_info"},
        {"ours without note", no_note, TP_RULE_ELF_NOTE, "no ELF note"},
        {"broken note", broken_note, TP_RULE_ELF_NOTE, "not JSON"},
        {"another version", other_version, TP_RULE_ELF_NOTE, "\"WN-25.0.7-b\", not \"WN-25.1.0-b\""},
        {"p in b's archive", p_in_b, TP_RULE_ELF_VARIANT, "variant p, and the archive that it is b"},
        {"p without power", p_without_power, TP_RULE_ELF_VARIANT, "never asks KGSL"},
        {"b with power", b_with_power, TP_RULE_ELF_VARIANT, "sets a KGSL property"},
        {"no dynamic header", no_dynamic_header, TP_RULE_ELF_DAMAGED, "no section header names"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct elf_shape shape = elf_android();
        struct tp_elf_ask ask = android_ask();
        faults[i].change(&shape, &ask);
        expect_alone(faults[i].name, check(&shape, &ask), faults[i].rule, faults[i].words);
    }
}

static void linux_drivers_have_rules_of_their_own(void **state)
{
    (void)state;
    struct tp_elf_ask ask = linux_ask();
    struct elf_shape shape = elf_linux();
    shape.needed[0] = "libc.so";
    shape.needed[1] = NULL;
    shape.versions[0] = NULL;
    expect_alone("bionic", check(&shape, &ask), TP_RULE_ELF_LIBC, "Android's C library");
    shape = elf_linux();
    shape.symbols[0].name = "HMI";
    expect_alone("no entry point", check(&shape, &ask), TP_RULE_ELF_EXPORTS, "vk_icdGetInstanceProcAddr");
    shape = elf_linux();
    shape.symbols[3].name = "HMI";
    expect_alone("both entry points", check(&shape, &ask), TP_RULE_ELF_EXPORTS, "exports HMI");
    shape = elf_linux();
    shape.dynamic[0][0] = 0x60000011;
    expect_alone("packed", check(&shape, &ask), TP_RULE_ELF_RELOCATIONS, "glibc passes over");
    shape = elf_linux();
    shape.needed[2] = "libui.so";
    expect_alone("Android's library", check(&shape, &ask), TP_RULE_ELF_NEEDED, "no Linux has it");
    shape = elf_linux();
    shape.tls = true;
    shape.relocation = R_AARCH64_TLS_TPREL;
    shape.dynamic[0][0] = 36;
    expect_none("what glibc reads", check(&shape, &ask));
}

static void each_rules_neighbour_is_no_fault(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    shape.tls = true;
    expect_none("TLS on 29", check(&shape, &ask));
    shape = elf_android();
    shape.dynamic[0][0] = 0x6fffe000;
    expect_none("Android's RELR on 29", check(&shape, &ask));
    shape.gnu_hash = true;
    shape.align = 65536;
    expect_none("64 KiB pages, GNU hash", check(&shape, &ask));
    shape.symbols[7] = (struct elf_symbol){"call_once", true, true};
    expect_none("weak call_once on 29", check(&shape, &ask));
    shape.symbols[7] = (struct elf_symbol){"call_once", true, false};
    ask.min_api = 30;
    shape.dynamic[0][0] = 36;
    expect_none("call_once and RELR on 30", check(&shape, &ask));
    shape = elf_android();
    packed_on_22(&shape, &ask);
    shape.dynamic[0][0] = DT_GNU_HASH; /* beside DT_HASH */
    expect_none("both hash tables on 22", check(&shape, &ask));
    shape = elf_android();
    ask.min_api = 0;
    shape.symbols[8] = (struct elf_symbol){"atrace_get_enabled_tags", true};
    expect_none("no API declared", check(&shape, &ask));
    shape = elf_android();
    shape.note = NOTE_OF("p");
    shape.code = sets_property;
    shape.n_code = 3;
    expect_none("p with power", check(&shape, &ask));
}

/* As in Qualcomm's archives: the driver brings its libraries along under other names, and phones have the
 * rest; a symbol of either is no fault. */
static void a_vendors_driver_is_taken_for_what_it_is(void **state)
{
    (void)state;
    static const char *const siblings[] = {"notgsl.so", "notllvm-glnext.so"};
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    ask.siblings = siblings;
    ask.n_siblings = 2;
    ask.library_name = shape.soname = "vulkan.adreno.so";
    shape.needed[9] = "notgsl.so";
    shape.symbols[7] = (struct elf_symbol){"gsl_library_open", true};
    expect_none("with its libraries", check(&shape, &ask));
    ask.n_siblings = 0;
    expect_alone("without them", check(&shape, &ask), TP_RULE_ELF_NEEDED, "notgsl.so");
    ask.siblings = siblings + 1;
    ask.n_siblings = 1;
    expect_alone("with another", check(&shape, &ask), TP_RULE_ELF_NEEDED, "notgsl.so");
    ask.n_siblings = 0;
    shape = elf_android();
    shape.soname = "libgsl.so";
    shape.symbols[0].name = "gsl_library_open";
    shape.no_build_id = true;
    ask.companion = true;
    expect_none("a companion", check(&shape, &ask));
}

static void the_real_minimum_is_what_the_file_needs(void **state)
{
    (void)state;
    static const struct {
        const char *symbol;
        bool tls;
        uint64_t tag;
        int min_api;
        const char *why;
    } rows[] = {
        {"free", false, 0, 26, "libnativewindow.so"},
        {"free", false, 0x6fffe000, 28, "packed relocations (DT_ANDROID_RELR)"},
        {"syncfs", false, 0, 28, "syncfs (libc.so)"},
        {"syncfs", true, 0, 29, "native thread-local storage"},
        {"call_once", true, 0, 30, "call_once (libc.so)"},
        {"free", true, 36, 30, "packed relocations (DT_RELR)"},
        {"AHardwareBuffer_getId", true, 36, 31, "AHardwareBuffer_getId (libnativewindow.so)"},
        {"qsort_r", true, 0, 36, "qsort_r (libc.so)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elf_shape shape = elf_android();
        struct tp_elf_ask ask = {.library_name = DRIVER};
        shape.symbols[7] = (struct elf_symbol){rows[i].symbol, true};
        shape.tls = rows[i].tls;
        shape.dynamic[0][0] = rows[i].tag;
        struct report r = check(&shape, &ask);
        assert_int_equal(r.facts.min_api, rows[i].min_api);
        assert_string_equal(r.facts.min_api_why, rows[i].why);
        finish(&r);
    }
}

/* With libraries that were always there, smaller things count. */
static void old_forms_raise_the_minimum_too(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = {.library_name = DRIVER};
    packed_on_22(&shape, &ask);
    ask.min_api = 0;
    struct report r = check(&shape, &ask);
    assert_int_equal(r.facts.min_api, 23);
    assert_string_equal(r.facts.min_api_why, "packed relocations (DT_ANDROID_RELA)");
    finish(&r);
    shape.dynamic[0][0] = 0;
    r = check(&shape, &ask);
    assert_int_equal(r.facts.min_api, 21);
    assert_string_equal(r.facts.min_api_why, "");
    finish(&r);
    shape.gnu_hash = true;
    r = check(&shape, &ask);
    assert_int_equal(r.facts.min_api, 23);
    finish(&r);
}

static void the_highest_glibc_is_found_number_by_number(void **state)
{
    (void)state;
    static const struct {
        const char *versions[4], *highest;
    } rows[] = {
        {{"GLIBC_2.17"}, "2.17"},
        {{"GLIBC_2.34", "GLIBC_2.4"}, "2.34"},
        {{"GLIBC_2.4", "GLIBC_2.34"}, "2.34"},
        {{"GLIBC_2.17.1", "GLIBC_2.17"}, "2.17.1"},
        {{"GLIBC_2.17", "GLIBC_2.17.1"}, "2.17.1"},
        {{"GLIBC_3", "GLIBC_2.99"}, "3"},
        {{"GLIBC_2.30", "GLIBC_PRIVATE", "GCC_4.0"}, "2.30"},
        {{"GLIBC_2.30", "GLIBC_9999999999999999999999999999999999999"}, "2.30"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct elf_shape shape = elf_linux();
        struct tp_elf_ask ask = linux_ask();
        memcpy(shape.versions, rows[i].versions, sizeof shape.versions);
        struct report r = check(&shape, &ask);
        assert_string_equal(r.facts.glibc, rows[i].highest);
        finish(&r);
    }
}

static bool code_has_power(const uint32_t *code, size_t n, uint16_t machine)
{
    struct elf_shape shape = elf_linux();
    struct tp_elf_ask ask = linux_ask();
    shape.machine = ask.machine = machine;
    shape.code = code;
    shape.n_code = n;
    struct report r = check(&shape, &ask);
    bool power = r.facts.power;
    finish(&r);
    return power;
}

static void a_call_that_sets_a_property_is_seen_in_code(void **state)
{
    (void)state;
    const uint32_t NOP = 0xd503201f, LOW = 0x52812641, HIGH = 0x72a80301;
    uint32_t far[12];
    for (size_t i = 0; i < 12; i++)
        far[i] = NOP;
    const uint32_t low[] = {LOW, NOP}, high[] = {NOP, HIGH}, pair[] = {LOW, HIGH};
    const uint32_t high_first[] = {0x52a80301, 0x72812641}; /* mov w1, #0x40180000; movk w1, #0x932 */
    const uint32_t wide[] = {0xd2812641, 0xf2a80301};       /* x1 */
    const uint32_t other_register[] = {LOW, 0x72a80302};    /* w2 */
    const uint32_t other_number[] = {0x52812661, HIGH};     /* 0x40180933 */
    const uint32_t x86[] = {0x0932b890, 0xc3904018};        /* nop; mov eax, 0x40180932; nop; ret */
    assert_true(code_has_power(pair, 2, EM_AARCH64));
    assert_true(code_has_power(high_first, 2, EM_AARCH64));
    assert_true(code_has_power(wide, 2, EM_AARCH64));
    assert_false(code_has_power(low, 2, EM_AARCH64));
    assert_false(code_has_power(high, 2, EM_AARCH64));
    assert_false(code_has_power(other_register, 2, EM_AARCH64));
    assert_false(code_has_power(other_number, 2, EM_AARCH64));
    far[1] = LOW;
    far[9] = HIGH;
    assert_true(code_has_power(far, 12, EM_AARCH64));
    far[9] = NOP;
    far[10] = HIGH;
    assert_false(code_has_power(far, 12, EM_AARCH64));
    assert_true(code_has_power(x86, 2, EM_X86_64));
    assert_false(code_has_power(pair, 2, EM_X86_64));
}

static void the_facts_are_those_of_the_file(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    shape.note = NOTE_OF("p");
    shape.code = sets_property;
    shape.n_code = 3;
    shape.tls = true;
    struct report r = check(&shape, &ask);
    assert_string_equal(r.facts.build_id, "0123456789abcdef");
    assert_int_equal(r.facts.page_bytes, 16384);
    assert_true(r.facts.native_tls);
    assert_false(r.facts.relr);
    assert_true(r.facts.power);
    assert_string_equal(tp_json_text(r.facts.note, "variant"), "p");
    assert_string_equal(r.facts.glibc, "");
    finish(&r);
    shape = elf_linux();
    ask = linux_ask();
    r = check(&shape, &ask);
    assert_string_equal(r.facts.glibc, "2.34"); /* above 2.4 and 2.17 */
    assert_int_equal(r.facts.min_api, 0);
    finish(&r);
}

/* The first twelve by name, the others counted. */
static void many_late_symbols_are_one_finding(void **state)
{
    (void)state;
    static const char *const late[] = {"call_once", "mtx_lock", "mtx_unlock", "cnd_wait", "thrd_create",
                                       "tss_get", "tss_set", "mtx_init", "cnd_init", "cnd_signal",
                                       "thrd_join", "mtx_destroy", "cnd_destroy"};
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    for (size_t i = 0; i < 12; i++)
        shape.symbols[1 + i] = (struct elf_symbol){late[i], true};
    struct report r = check(&shape, &ask);
    assert_int_equal(r.findings.n, 1);
    for (size_t i = 0; i < 12; i++)
        assert_non_null(strstr(r.findings.list[0].text, late[i]));
    assert_null(strstr(r.findings.list[0].text, "more"));
    assert_true(!strncmp(r.findings.list[0].text, "it needs call_once (", 20));
    finish(&r);
    shape.symbols[13] = (struct elf_symbol){late[12], true};
    r = check(&shape, &ask);
    assert_int_equal(r.findings.n, 1);
    assert_null(strstr(r.findings.list[0].text, "cnd_destroy"));
    assert_non_null(strstr(r.findings.list[0].text, " and 1 more"));
    finish(&r);
}

/* A driver that turnpike built for a computer says so; that is no fault of it. */
static void a_driver_for_proofs_is_known_by_its_note(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    shape.machine = EM_X86_64;
    shape.needed[0] = "libc.so.6";
    shape.note = "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-b\", \"variant\": \"b\", "
                 "\"target\": \"host-android\", \"mesa\": \"25.0.7\", \"patches\": []}";
    struct report r = check(&shape, &ask);
    assert_int_equal(r.findings.n, 1);
    assert_int_equal(r.findings.list[0].rule, TP_RULE_ELF_MACHINE);
    assert_int_equal(r.findings.list[0].severity, TP_SEVERITY_NOTE);
    finish(&r);
}

/* `turnpike build --without power-max` is the builder's choice. */
static void p_without_its_patch_is_told_and_no_fault(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    struct tp_elf_ask ask = android_ask();
    shape.note = NOTE_WITH("p", "autotune");
    struct report r = check(&shape, &ask);
    assert_int_equal(r.findings.list[0].severity, TP_SEVERITY_NOTE);
    expect_alone("p without power-max", r, TP_RULE_ELF_VARIANT, "without the patch power-max");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_driver_breaks_no_rule),
        cmocka_unit_test(each_rule_broken_alone_is_named_alone),
        cmocka_unit_test(linux_drivers_have_rules_of_their_own),
        cmocka_unit_test(each_rules_neighbour_is_no_fault),
        cmocka_unit_test(a_vendors_driver_is_taken_for_what_it_is),
        cmocka_unit_test(the_real_minimum_is_what_the_file_needs),
        cmocka_unit_test(the_facts_are_those_of_the_file),
        cmocka_unit_test(many_late_symbols_are_one_finding),
        cmocka_unit_test(old_forms_raise_the_minimum_too),
        cmocka_unit_test(the_highest_glibc_is_found_number_by_number),
        cmocka_unit_test(a_call_that_sets_a_property_is_seen_in_code),
        cmocka_unit_test(a_driver_for_proofs_is_known_by_its_note),
        cmocka_unit_test(p_without_its_patch_is_told_and_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
