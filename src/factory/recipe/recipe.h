/* From a patched Mesa tree to a driver: targets, names, and the run of meson and ninja. */
#ifndef TP_FACTORY_RECIPE_H
#define TP_FACTORY_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What a driver is built for. The table is constant: pointers stay valid. */
struct tp_target {
    const char *name;    /* "linux-arm64" */
    const char *system;  /* "android" or "linux": the driver's platform, and meta.json's */
    const char *arch;    /* "aarch64" or "x86_64" */
    const char *entry;   /* the symbol that the driver exports */
    const char *product; /* between the brand's parts in an archive's name; "" for none */
    bool runs_here;      /* loads on x86-64 Linux, under qemu-user where arch says so */
    bool has_shim;       /* Mesa's noop DRM shim is built beside the driver */
};

/* The target of this name, or NULL. */
const struct tp_target *tp_target_find(const char *name);
/* "host, linux-arm64, …", for messages. */
const char *tp_target_names(void);
/* What --target defaults to: android-arm64 where an NDK or a bionic sysroot is given (arguments may
 * be NULL) or ANDROID_NDK_HOME is set, else linux-arm64. */
const char *tp_target_default(const char *ndk, const char *sysroot);

/* Under which name drivers go out. The one place to change it. */
struct tp_brand {
    const char *prefix;  /* "WN" */
    const char *product; /* "Turnip" */
    const char *author;  /* meta.json's author */
    const char *vendor;  /* whose driver it is: meta.json's vendor */
};
extern const struct tp_brand tp_brand;

/* Letters, digits and "._+-", at most 64, not starting with a dot or dash: -EINVAL (status INPUT)
 * otherwise. It becomes part of file names. */
int tp_version_check(const char *version, struct tp_error *e);
/* "WN-Linux-Turnip-25.0.7-b_Axxx.zip". variant: 'b' or 'p'. A Linux release tag's "linux-" is not
 * said twice. Caller frees. */
char *tp_archive_name(const struct tp_target *target, const char *version, char variant);
/* "WN-25.0.7-b": meta.json's driverVersion. Caller frees. */
char *tp_driver_version(const char *version, char variant);
/* "WN-Linux-Turnip-25.0.7-b Axxx": meta.json's name. Caller frees. */
char *tp_driver_name(const struct tp_target *target, const char *version, char variant);
/* What the user said about tools; all borrowed, all may be NULL or 0. */
struct tp_toolchain {
    const char *ndk;      /* an NDK's folder; NULL: ANDROID_NDK_HOME */
    const char *sysroot;  /* android-arm64: bionic's; linux-arm64: the arm64 libraries' */
    const char *launcher; /* put before every compiler: "ccache", "distcc", "icecc" */
    unsigned jobs;        /* 0: one for each processor */
};

/* Where a long step stands. */
struct tp_progress {
    const char *phase;   /* "sysroot", "configure", "compile" */
    unsigned done, total; /* steps by ninja's count; total 0: not known */
    int64_t eta_ms;      /* expected time to the end of this phase; -1: not known */
    const char *text;    /* what is being done; valid during the call */
};

/* One build directory. All borrowed. */
struct tp_build_request {
    const char *tree;      /* Mesa's source, already patched for the variant to build */
    const char *build_dir; /* kept between variants; created, and emptied when the recipe changed */
    const struct tp_target *target;
    struct tp_toolchain tools;
    const char *log_path;      /* receives everything that meson and ninja say; appended to */
    const char *revision;      /* Mesa's git revision for the driver's own label; NULL: none */
    int64_t source_date_epoch; /* seconds; 0 stands for 1980-01-01, as in the archives */
    void (*on_progress)(void *data, const struct tp_progress *p); /* may be NULL */
    void *data;
};

struct tp_build_result {
    double seconds; /* wall time of this call */
    unsigned steps; /* ninja's steps that ran */
};

/*
 * Says whether this machine has what the target needs, before any work is done. toolchain: when not
 * NULL, receives one line that names the compiler ("aarch64-linux-gnu-gcc (Debian …) 12.2.0"); caller
 * frees. Errors: -ENOENT, status MISSING with the command that installs, or INPUT when a path that
 * the user gave is not what it should be.
 */
int tp_recipe_check(const struct tp_build_request *req, char **toolchain, struct tp_error *e);

/* A name and what there is of it. Owns both. */
struct tp_ingredient {
    char *name, *value;
};

/* All that a driver is made with besides its sources. Owned by the caller, but for the options. */
struct tp_ingredients {
    struct tp_ingredient *tools; /* "compiler", "linker", "meson", …: a line of --version each */
    size_t n_tools, cap_tools;
    struct tp_ingredient *libraries; /* linked statically out of a sysroot: file name, SHA-256 */
    size_t n_libraries, cap_libraries;
    const char *const *options;      /* of meson, for every target; NULL-terminated. "?name=value": where */
    const char *const *more_options; /* this Mesa has it. And for this target */
    char *machine_file;              /* meson's, paths of this machine and the launcher left out */
};

/* What a build of req is made with on this machine. Runs some small programs. out: ended with
 * tp_ingredients_finish, after a failure too. Errors: as tp_recipe_check; -EINTR. */
int tp_recipe_ingredients(const struct tp_build_request *req, struct tp_ingredients *out,
                          struct tp_error *e);
void tp_ingredients_finish(struct tp_ingredients *all);

/*
 * Runs meson. A build directory that was configured by the same recipe for the same tree is kept as
 * it is. seconds: may be NULL. Errors: as tp_recipe_check; -EIO (status FAILED) with meson's own
 * reason; -EEXIST (status INPUT) for a build_dir that holds something else; -EINTR.
 */
int tp_recipe_configure(const struct tp_build_request *req, double *seconds, struct tp_error *e);

/*
 * Runs ninja, which rebuilds what changed in the tree since, and writes the driver to out_path as
 * `meson install` would: stripped, without RUNPATH. The file appears whole or not at all. result: may
 * be NULL. Errors: -EIO (status FAILED) with the failing step's last lines; -EINTR; those of files.
 */
int tp_recipe_compile(const struct tp_build_request *req, const char *out_path,
                      struct tp_build_result *result, struct tp_error *e);

/* What a driver said of itself when it was loaded. */
struct tp_smoke {
    unsigned devices;      /* physical devices it enumerated */
    char device_name[256]; /* of the first; the rest are empty or 0 without one */
    char driver_name[256];
    char driver_info[256];
    uint32_t api_version; /* VK_MAKE_API_VERSION's layout */
};

/*
 * Loads a driver in a process of its own and enumerates its devices, with a small Vulkan client that
 * is compiled for the target: host and linux-arm64 on Mesa's noop DRM shim from req's build
 * directory, the latter under qemu-aarch64-static where this machine is not arm64; host-android
 * through HMI, where no KGSL device means none is found. gpu_id: the shim's FD_GPU_ID, 0 for its
 * default. Errors: -EIO (status FAILED) with what the client said; -ENOENT (status MISSING) without
 * qemu; -ENOTSUP for a target that cannot run here.
 */
int tp_recipe_smoke(const struct tp_build_request *req, const char *so_path, unsigned gpu_id,
                    struct tp_smoke *out, struct tp_error *e);

#endif
