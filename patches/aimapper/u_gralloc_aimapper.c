/*
 * Copyright © 2026 The turnpike authors
 * SPDX-License-Identifier: MIT
 *
 * Buffers' layouts from the vendor's IMapper 5 ("stable C"), for drivers that are loaded into an
 * app: there libui is out of reach, and the mapper is loaded as any same-process HAL is.
 */

#include "u_gralloc_internal.h"

#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drm-uapi/drm_fourcc.h"
#include "util/log.h"
#include "util/macros.h"
#include "util/simple_mtx.h"
#include "util/u_atomic.h"
#include "util/u_math.h"
#include "util/u_memory.h"

/*
 * The HAL's interface, after AOSP's hardware/interfaces/graphics/mapper/stable-c.
 */

#define AIMAPPER_VERSION 5
#define AIMAPPER_UNSUPPORTED 7 /* AIMapper_Error */
#define AIMAPPER_TYPE_NAME "android.hardware.graphics.common.StandardMetadataType"
#define AIMAPPER_COMPONENT_NAME "android.hardware.graphics.common.PlaneLayoutComponentType"

enum aimapper_metadata {
   AIMAPPER_HEIGHT = 4,
   AIMAPPER_LAYER_COUNT = 5,
   AIMAPPER_PIXEL_FORMAT_REQUESTED = 6,
   AIMAPPER_PIXEL_FORMAT_FOURCC = 7,
   AIMAPPER_PIXEL_FORMAT_MODIFIER = 8,
   AIMAPPER_ALLOCATION_SIZE = 10,
   AIMAPPER_COMPRESSION = 12,
   AIMAPPER_CHROMA_SITING = 14,
   AIMAPPER_PLANE_LAYOUTS = 15,
   AIMAPPER_DATASPACE = 17,
   AIMAPPER_STRIDE = 23,
};

/* android.hardware.graphics.common.PlaneLayoutComponentType */
enum aimapper_component {
   AIMAPPER_Y = 1 << 0,
   AIMAPPER_CB = 1 << 1,
   AIMAPPER_CR = 1 << 2,
   AIMAPPER_R = 1 << 10,
   AIMAPPER_G = 1 << 11,
   AIMAPPER_B = 1 << 12,
};

#define AIMAPPER_YCBCR (AIMAPPER_Y | AIMAPPER_CB | AIMAPPER_CR)
#define AIMAPPER_RGB (AIMAPPER_R | AIMAPPER_G | AIMAPPER_B)

/* Of android.hardware.graphics.common.PixelFormat. */
#define AIMAPPER_IMPLEMENTATION_DEFINED 0x22

typedef void (*aimapper_function)(void);

/* Only one of the fifteen functions is called; the others keep its place. */
struct aimapper_v5 {
   aimapper_function import_buffer;
   aimapper_function free_buffer;
   aimapper_function get_transport_size;
   aimapper_function lock;
   aimapper_function unlock;
   aimapper_function flush_locked_buffer;
   aimapper_function reread_locked_buffer;
   aimapper_function get_metadata;
   /* Returns the size of the answer, whether or not it fitted, or a negated error. */
   int32_t (*get_standard_metadata)(const native_handle_t *buffer, int64_t type, void *out,
                                    size_t size);
   aimapper_function set_metadata;
   aimapper_function set_standard_metadata;
   aimapper_function list_supported_metadata_types;
   aimapper_function dump_buffer;
   aimapper_function dump_all_buffers;
   aimapper_function get_reserved_region;
};

struct aimapper {
   uint32_t version;
   struct aimapper_v5 v5;
} __attribute__((aligned(16)));

#if UINTPTR_MAX > UINT32_MAX
static_assert(offsetof(struct aimapper, v5) == 8, "the table's place");
static_assert(offsetof(struct aimapper_v5, get_standard_metadata) == 64, "the function's place");
static_assert(sizeof(struct aimapper) == 128, "the size of the whole");
#endif

typedef int32_t (*aimapper_load_function)(struct aimapper **out);
typedef void *(*sphal_load_function)(const char *name, int flags);
typedef int (*sphal_unload_function)(void *library);

/* Each cause is told once: there are many buffers, and a create for each device. */
#define warn_once(...)                                                                             \
   do {                                                                                            \
      static uint32_t told;                                                                        \
      if (p_atomic_xchg(&told, 1) == 0)                                                            \
         mesa_logw("aimapper: " __VA_ARGS__);                                                      \
   } while (0)

/*
 * Loading. In this order:
 *
 * 1. a mapper that is loaded in this process already, under the path that it has there: libui's,
 *    which imported the buffers that come here, and knows them by their handles. Another instance
 *    may know none of them;
 * 2. Qualcomm's by its bare name, which the loader seeks in the vendor's folders itself, as
 *    Android does it, wherever those are;
 * 3. Qualcomm's in each of the folders that are known;
 * 4. the others of those folders, by name: the order of a directory means nothing.
 */

#ifndef AIMAPPER_FOLDERS /* tests have folders of their own */
#if UINTPTR_MAX > UINT32_MAX
#define AIMAPPER_FOLDERS "/vendor/lib64/hw/", "/odm/lib64/hw/"
#else
#define AIMAPPER_FOLDERS "/vendor/lib/hw/", "/odm/lib/hw/"
#endif
#endif

static const char *const folders[] = {AIMAPPER_FOLDERS};

/* Qualcomm's. An app may not be allowed to list the folders, so this one is tried by name. */
#define AIMAPPER_FIRST "mapper.qti.so"

struct loader {
   sphal_load_function load;
   sphal_unload_function unload; /* or NULL */
   bool found;                   /* a library, whether it was of use or not */
};

/* AOSP's description has the first name for the number; its test suite, Qualcomm's mapper and most
 * others have the second. libui looks at neither, but at the table's version.
 */
static const uint32_t *
get_version(void *library)
{
   const uint32_t *version = dlsym(library, "ANDROID_HAL_STABLEC_VERSION");

   return version ? version : dlsym(library, "ANDROID_HAL_MAPPER_VERSION");
}

static struct aimapper *
get_table(const char *path, void *library)
{
   const uint32_t *version = get_version(library);
   aimapper_load_function get =
      (aimapper_load_function)(uintptr_t)dlsym(library, "AIMapper_loadIMapper");
   struct aimapper *mapper = NULL;

   if (version && *version != AIMAPPER_VERSION) {
      warn_once("%s has version %u, not %u", path, *version, AIMAPPER_VERSION);
      return NULL;
   }
   if (!get) {
      warn_once("%s has no AIMapper_loadIMapper", path);
      return NULL;
   }
   int32_t error = get(&mapper);
   if (error || !mapper) {
      warn_once("%s gives no mapper, error %d", path, error);
      return NULL;
   }
   if (mapper->version < AIMAPPER_VERSION) {
      warn_once("%s has a mapper of version %u, not %u", path, mapper->version, AIMAPPER_VERSION);
      return NULL;
   }
   if (!mapper->v5.get_standard_metadata) {
      warn_once("%s has no getStandardMetadata", path);
      return NULL;
   }

   return mapper;
}

static struct aimapper *
load_from(struct loader *loader, const char *path)
{
   void *library = loader->load(path, RTLD_LOCAL | RTLD_NOW);
   if (!library)
      return NULL;

   struct aimapper *mapper = get_table(path, library);
   loader->found = true;
   if (mapper)
      return mapper;

   if (loader->unload)
      loader->unload(library);
   else
      dlclose(library);

   return NULL;
}

/* mapper.NAME.so */
static bool
is_mapper_name(const char *file)
{
   size_t length = strlen(file);

   return length > strlen("mapper..so") && !strncmp(file, "mapper.", 7) &&
          !strcmp(file + length - 3, ".so");
}

struct loaded_search {
   unsigned skip;
   char path[PATH_MAX];
};

static int
find_loaded(struct dl_phdr_info *info, UNUSED size_t size, void *data)
{
   struct loaded_search *search = data;
   const char *path = info->dlpi_name;
   const char *file = path ? strrchr(path, '/') : NULL;

   if (!file || !is_mapper_name(file + 1) || strlen(path) >= sizeof(search->path) ||
       search->skip-- > 0)
      return 0;
   strcpy(search->path, path);

   return 1;
}

/* Nothing may be loaded while the list is walked, so it is walked anew for each. */
static struct aimapper *
load_loaded(struct loader *loader)
{
   struct aimapper *mapper = NULL;
   struct loaded_search search;

   for (unsigned n = 0; !mapper; n++) {
      search.skip = n;
      if (!dl_iterate_phdr(find_loaded, &search))
         break;
      mapper = load_from(loader, search.path);
   }

   return mapper;
}

static struct aimapper *
load_first(struct loader *loader)
{
   char path[PATH_MAX];
   struct aimapper *mapper;

   loader->found = false;
   mapper = load_from(loader, AIMAPPER_FIRST);
   /* One that was found and is of no use is not found again. */
   for (unsigned i = 0; !loader->found && i < ARRAY_SIZE(folders); i++) {
      snprintf(path, sizeof(path), "%s" AIMAPPER_FIRST, folders[i]);
      mapper = load_from(loader, path);
   }

   return mapper;
}

/* The mapper's file name that follows this one in strcmp's order; false: none does. */
static bool
next_mapper(DIR *folder, char name[NAME_MAX + 1])
{
   char next[NAME_MAX + 1] = "";

   rewinddir(folder);
   for (struct dirent *entry; (entry = readdir(folder));) {
      size_t length = strlen(entry->d_name);
      if (length < sizeof(next) && is_mapper_name(entry->d_name) &&
          strcmp(entry->d_name, AIMAPPER_FIRST) && strcmp(entry->d_name, name) > 0 &&
          (!next[0] || strcmp(entry->d_name, next) < 0))
         memcpy(next, entry->d_name, length + 1);
   }
   memcpy(name, next, sizeof(next));

   return next[0] != 0;
}

static struct aimapper *
load_from_folder(struct loader *loader, const char *path)
{
   char name[NAME_MAX + 1] = "", file[PATH_MAX + NAME_MAX + 1];
   struct aimapper *mapper = NULL;
   DIR *folder = opendir(path);
   if (!folder)
      return NULL;

   while (!mapper && next_mapper(folder, name)) {
      snprintf(file, sizeof(file), "%s%s", path, name);
      mapper = load_from(loader, file);
   }
   closedir(folder);

   return mapper;
}

static struct aimapper *
load_mapper(void *support)
{
   struct loader loader = {
      .load = (sphal_load_function)(uintptr_t)dlsym(support, "android_load_sphal_library"),
      .unload = (sphal_unload_function)(uintptr_t)dlsym(support, "android_unload_sphal_library"),
   };
   if (!loader.load) {
      warn_once("libvndksupport.so has no android_load_sphal_library");
      return NULL;
   }

   struct aimapper *mapper = load_loaded(&loader);
   bool found = loader.found;
   if (!mapper)
      mapper = load_first(&loader);
   found |= loader.found;
   for (unsigned i = 0; !mapper && i < ARRAY_SIZE(folders); i++)
      mapper = load_from_folder(&loader, folders[i]);
   if (!mapper && !found && !loader.found)
      warn_once("no mapper.*.so was found, or the loader refused it");

   return mapper;
}

/* The process's mapper. The vendor's library stays loaded, as it does in Android's own processes:
 * others in this process may hold what it gave out.
 */
static struct aimapper *
get_mapper(void)
{
   static simple_mtx_t mutex = SIMPLE_MTX_INITIALIZER;
   static struct aimapper *mapper;

   simple_mtx_lock(&mutex);
   if (!mapper) {
      void *support = dlopen("libvndksupport.so", RTLD_LOCAL | RTLD_NOW);
      if (support)
         mapper = load_mapper(support);
      else
         warn_once("no libvndksupport.so, which loads the vendor's libraries");
      if (support && !mapper)
         dlclose(support);
   }
   struct aimapper *result = mapper;
   simple_mtx_unlock(&mutex);

   return result;
}

/*
 * Metadata on the wire: little-endian, unpadded. Nothing in it is trusted.
 */

struct wire {
   const uint8_t *at;
   size_t left;
   bool bad;
};

static uint64_t
read_bytes(struct wire *w, unsigned size)
{
   uint64_t value = 0;

   if (w->bad || w->left < size) {
      w->bad = true;
      return 0;
   }
   for (unsigned i = 0; i < size; i++)
      value |= (uint64_t)w->at[i] << (8 * i);
   w->at += size;
   w->left -= size;

   return value;
}

static int64_t
read_i64(struct wire *w)
{
   return (int64_t)read_bytes(w, 8);
}

/* A length and as many characters; true if they are this name. */
static bool
read_name(struct wire *w, const char *name)
{
   uint64_t length = read_bytes(w, 8);

   if (w->bad || length > w->left) {
      w->bad = true;
      return false;
   }
   bool same = length == strlen(name) && !memcmp(w->at, name, length);
   w->at += length;
   w->left -= length;

   return same;
}

#define AIMAPPER_SMALL 1024
#define AIMAPPER_LARGE (64 * 1024)

/* One answer of the mapper. */
struct metadata {
   uint8_t small[AIMAPPER_SMALL];
   uint8_t *large; /* NULL: small */
   struct wire payload;
};

static void
finish_metadata(struct metadata *m)
{
   free(m->large);
   m->large = NULL;
}

/* 0; or the mapper's own negated error; or a negative errno that is none of those, where it does not
 * answer as it should. Then there is nothing to finish. A mapper may claim bytes that it does not
 * write; they read as zero, not as an older answer.
 */
static int
get_metadata(const struct aimapper *mapper, const native_handle_t *handle,
             enum aimapper_metadata type, struct metadata *m)
{
   memset(m->small, 0, sizeof(m->small));
   m->large = NULL;
   const uint8_t *data = m->small;
   int32_t size = mapper->v5.get_standard_metadata(handle, type, m->small, sizeof(m->small));

   if (size > (int32_t)sizeof(m->small)) {
      if (size > AIMAPPER_LARGE)
         return -EMSGSIZE;
      int32_t room = size;
      m->large = calloc(1, room);
      if (!m->large)
         return -ENOMEM;
      data = m->large;
      size = mapper->v5.get_standard_metadata(handle, type, m->large, room);
      if (size > room)
         size = 0; /* it changed in between */
   }

   m->payload = (struct wire){.at = data, .left = size > 0 ? size : 0};
   bool is_standard = read_name(&m->payload, AIMAPPER_TYPE_NAME);
   bool is_asked = read_i64(&m->payload) == type;
   if (size > 0 && !m->payload.bad && is_standard && is_asked)
      return 0;

   finish_metadata(m);
   if (size < 0 && size != -AIMAPPER_UNSUPPORTED)
      warn_once("the mapper answers with error %d, of metadata %d", size, type);
   return size < 0 ? size : -EBADMSG;
}

static int
get_number(const struct aimapper *mapper, const native_handle_t *handle,
           enum aimapper_metadata type, unsigned size, uint64_t *out)
{
   struct metadata m;
   int ret = get_metadata(mapper, handle, type, &m);
   if (ret)
      return ret;

   uint64_t value = read_bytes(&m.payload, size);
   ret = m.payload.bad ? -EBADMSG : 0;
   if (!ret)
      *out = value;
   finish_metadata(&m);

   return ret;
}

enum compression {
   COMPRESSION_UNKNOWN, /* the mapper does not say */
   COMPRESSION_NONE,
   COMPRESSION_UBWC,
   COMPRESSION_OTHER,
};

/* Qualcomm's values, under the name "QTI". */
enum {
   QTI_UBWC = 10,
   QTI_UBWC_LOSSY_8_TO_5 = 11,
   QTI_UBWC_LOSSY_2_TO_1 = 12,
};

static enum compression
get_compression(const struct aimapper *mapper, const native_handle_t *handle)
{
   struct metadata m;
   if (get_metadata(mapper, handle, AIMAPPER_COMPRESSION, &m))
      return COMPRESSION_UNKNOWN;

   struct wire again = m.payload;
   bool is_aosp = read_name(&m.payload, "android.hardware.graphics.common.Compression");
   bool is_qti = read_name(&again, "QTI");
   int64_t value = read_i64(&m.payload);
   enum compression result = COMPRESSION_OTHER;
   if (m.payload.bad)
      result = COMPRESSION_UNKNOWN;
   else if (is_aosp && value == 0)
      result = COMPRESSION_NONE;
   else if (is_qti && value == QTI_UBWC)
      result = COMPRESSION_UBWC;
   else if (is_qti && (value == QTI_UBWC_LOSSY_8_TO_5 || value == QTI_UBWC_LOSSY_2_TO_1))
      warn_once("a buffer has lossy UBWC (QTI, %d), which is not known here", (int)value);
   else
      warn_once("a buffer has a compression that is not known here, %d", (int)value);
   finish_metadata(&m);

   return result;
}

#define AIMAPPER_MAX_PLANES 4
#define AIMAPPER_MAX_COMPONENTS 16

struct plane {
   int64_t offset; /* bytes */
   int64_t stride; /* bytes */
   int64_t height; /* samples */
   int64_t horizontal_subsampling;
   int64_t vertical_subsampling;
   uint32_t has; /* enum aimapper_component; 0: none that AOSP names, as of UBWC's flags */
   int64_t y_bits;
   int64_t cb_at; /* bits */
   int64_t cr_at; /* bits */
};

static void
read_component(struct wire *w, struct plane *plane)
{
   bool is_aosp = read_name(w, AIMAPPER_COMPONENT_NAME);
   int64_t which = read_i64(w);
   int64_t at = read_i64(w);
   int64_t bits = read_i64(w);
   if (!is_aosp)
      return;

   switch (which) {
   case AIMAPPER_Y:
      plane->y_bits = bits;
      break;
   case AIMAPPER_CB:
      plane->cb_at = at;
      break;
   case AIMAPPER_CR:
      plane->cr_at = at;
      break;
   case AIMAPPER_R:
   case AIMAPPER_G:
   case AIMAPPER_B:
      break;
   default:
      return; /* alpha, raw: they tell nothing */
   }
   plane->has |= which;
}

/* The number of planes, or a negative errno. */
static int
get_planes(const struct aimapper *mapper, const native_handle_t *handle,
           struct plane planes[AIMAPPER_MAX_PLANES])
{
   struct metadata m;
   int ret = get_metadata(mapper, handle, AIMAPPER_PLANE_LAYOUTS, &m);
   if (ret)
      return ret;

   int64_t count = read_i64(&m.payload);
   if (count < 1 || count > AIMAPPER_MAX_PLANES)
      m.payload.bad = true;

   for (int64_t i = 0; i < count && !m.payload.bad; i++) {
      int64_t components = read_i64(&m.payload);
      planes[i] = (struct plane){0};
      if (components < 0 || components > AIMAPPER_MAX_COMPONENTS)
         m.payload.bad = true;
      for (int64_t k = 0; k < components && !m.payload.bad; k++)
         read_component(&m.payload, &planes[i]);
      planes[i].offset = read_i64(&m.payload);
      read_i64(&m.payload); /* sample increment in bits */
      planes[i].stride = read_i64(&m.payload);
      read_i64(&m.payload); /* width in samples */
      planes[i].height = read_i64(&m.payload);
      read_i64(&m.payload); /* total size in bytes */
      planes[i].horizontal_subsampling = read_i64(&m.payload);
      planes[i].vertical_subsampling = read_i64(&m.payload);
   }
   ret = m.payload.bad ? -EBADMSG : (int)count;
   finish_metadata(&m);

   return ret;
}

/*
 * Layouts.
 */

struct aimapper_gralloc {
   struct u_gralloc base;
   const struct aimapper *mapper;
};

static bool
fits(int64_t value)
{
   return value >= 0 && value <= INT_MAX;
}

/* Of YCbCr: such a buffer has several planes of pixels, and flags for each. */
static bool
is_yuv(int hal_format, uint32_t fourcc, const struct plane *planes, int count)
{
   uint32_t has = 0;
   for (int i = 0; i < count; i++)
      has |= planes[i].has;
   if (has & AIMAPPER_YCBCR)
      return true;

   switch (fourcc) {
   case DRM_FORMAT_NV12:
   case DRM_FORMAT_NV21:
   case DRM_FORMAT_NV15:
   case DRM_FORMAT_NV16:
   case DRM_FORMAT_NV61:
   case DRM_FORMAT_NV24:
   case DRM_FORMAT_NV42:
   case DRM_FORMAT_P010:
   case DRM_FORMAT_P012:
   case DRM_FORMAT_P016:
   case DRM_FORMAT_P210:
   case DRM_FORMAT_YUV420:
   case DRM_FORMAT_YVU420:
   case DRM_FORMAT_YUV422:
   case DRM_FORMAT_YVU422:
   case DRM_FORMAT_YUV444:
   case DRM_FORMAT_YVU444:
   case DRM_FORMAT_YUYV:
   case DRM_FORMAT_YVYU:
   case DRM_FORMAT_UYVY:
   case DRM_FORMAT_VYUY:
      return true;
   }

   /* To Mesa that is YCbCr; the allocator may have chosen otherwise. */
   if (hal_format == AIMAPPER_IMPLEMENTATION_DEFINED && (fourcc || has & AIMAPPER_RGB))
      return false;

   return is_hal_format_yuv(hal_format);
}

/* What the planes of a YCbCr buffer say themselves; 0: nothing. */
static uint32_t
get_fourcc_from_planes(const struct plane *planes, int count)
{
   if (count < 2 || planes[0].has != AIMAPPER_Y)
      return 0;
   for (int i = 1; i < count; i++) {
      if (planes[i].horizontal_subsampling != 2 || planes[i].vertical_subsampling != 2)
         return 0;
   }

   if (count == 2 && planes[1].has == (AIMAPPER_CB | AIMAPPER_CR)) {
      bool cb_first = planes[1].cb_at < planes[1].cr_at;
      if (planes[0].y_bits == 8)
         return cb_first ? DRM_FORMAT_NV12 : DRM_FORMAT_NV21;
      if (planes[0].y_bits == 10 && cb_first)
         return DRM_FORMAT_P010;
   }
   /* fill_planes puts them in this format's order. */
   if (count == 3 && planes[0].y_bits == 8 && planes[1].has != planes[2].has &&
       (planes[1].has == AIMAPPER_CB || planes[1].has == AIMAPPER_CR) &&
       (planes[2].has == AIMAPPER_CB || planes[2].has == AIMAPPER_CR))
      return DRM_FORMAT_YVU420;

   return 0;
}

/* Two planes, of which the second begins the buffer and the first follows it at once: UBWC's flags,
 * a byte for each tile of four lines, then the pixels.
 */
static bool
looks_compressed(const struct plane *planes, int count, int64_t height)
{
   if (count != 2 || planes[1].offset != 0 || planes[1].stride <= 0 ||
       planes[1].stride > INT_MAX || planes[0].offset <= 0 || height <= 0 || height > INT_MAX)
      return false;

   int64_t rows = DIV_ROUND_UP(height, 4);
   int64_t exact = planes[1].stride * rows;
   int64_t padded = align64(planes[1].stride * align64(rows, 16), 4096);

   return planes[0].stride > planes[1].stride &&
          (planes[0].offset == exact || planes[0].offset == padded);
}

/* What tells that one compressed plane describes this buffer. */
enum evidence {
   NOT_COMPRESSED,
   BY_COMPRESSION,
   BY_MODIFIER,
   BY_PLANES,
   BY_HANDLE, /* there is nothing to collapse then, and another line in the log */
};

static enum evidence
find_evidence(const struct aimapper *mapper, const native_handle_t *handle,
              enum compression compression, const struct plane *planes, int count,
              uint64_t modifier)
{
   if (count > 2)
      return NOT_COMPRESSED; /* several planes of pixels */
   if (compression == COMPRESSION_UBWC)
      return BY_COMPRESSION;
   if (compression != COMPRESSION_UNKNOWN)
      return NOT_COMPRESSED;
   if (modifier == DRM_FORMAT_MOD_QCOM_COMPRESSED)
      return BY_MODIFIER;

   uint64_t height;
   if (get_number(mapper, handle, AIMAPPER_HEIGHT, 8, &height))
      height = count > 0 ? planes[0].height : 0;

   return looks_compressed(planes, count, height) ? BY_PLANES : NOT_COMPRESSED;
}

/* Qualcomm's handles have flags in the second int behind the fds. */
#define QTI_HANDLE_UBWC 0x08000000

/* What is left where the mapper knows nothing of a buffer, as one of another instance does: the
 * handle's flags, as the fallback reads them. To Turnip the modifier INVALID is a layout of its own,
 * which is compressed, so that is worse. False: the handle does not say it.
 */
static bool
read_handle(const native_handle_t *handle, bool *compressed)
{
   if (handle->numInts < 2)
      return false;
   *compressed = handle->data[handle->numFds + 1] & QTI_HANDLE_UBWC;

   return true;
}

/* Once for each kind of evidence: buffers are many. */
static void
tell_once(enum evidence evidence)
{
   static const char *const names[] = {
      [BY_COMPRESSION] = "COMPRESSION",
      [BY_MODIFIER] = "PIXEL_FORMAT_MODIFIER",
      [BY_PLANES] = "PLANE_LAYOUTS",
   };
   static uint32_t told[ARRAY_SIZE(names)];

   if (p_atomic_xchg(&told[evidence], 1) == 0)
      mesa_logi("aimapper: compressed layout detected via %s, "
                "collapsing to 1 compressed plane", names[evidence]);
}

/* Bytes of a line of a format with one plane; 0: not known. */
static int64_t
line_size(const struct aimapper *mapper, struct u_gralloc_buffer_handle *hnd, int hal_format)
{
   uint64_t pixels;
   if (get_number(mapper, hnd->handle, AIMAPPER_STRIDE, 4, &pixels) || !pixels)
      pixels = hnd->pixel_stride > 0 ? hnd->pixel_stride : 0;

   return (int64_t)pixels * get_hal_format_bpp(hal_format);
}

static int
fill_compressed(const struct aimapper *mapper, struct u_gralloc_buffer_handle *hnd, int hal_format,
                const struct plane *planes, int count, struct u_gralloc_buffer_basic_info *out)
{
   int64_t stride = line_size(mapper, hnd, hal_format);

   /* The pixels' plane is the one with the longer lines, wherever the flags' is said to be: a byte
    * of flags stands for a tile.
    */
   for (int i = 0; i < count; i++) {
      if (!fits(planes[i].offset))
         return -EINVAL;
      if (i == 0 || planes[i].stride > stride)
         stride = planes[i].stride;
   }
   if (stride <= 0 || !fits(stride))
      return -EINVAL;

   out->num_planes = 1;
   out->fds[0] = hnd->handle->data[0];
   out->offsets[0] = 0;
   out->strides[0] = stride;

   return 0;
}

static int
fill_planes(struct u_gralloc_buffer_handle *hnd, const struct plane *planes, int count,
            uint32_t fourcc, struct u_gralloc_buffer_basic_info *out)
{
   /* Mappers list Cb and Cr as they like. */
   bool swap = count == 3 &&
      ((fourcc == DRM_FORMAT_YVU420 && planes[1].has == AIMAPPER_CB) ||
       (fourcc == DRM_FORMAT_YUV420 && planes[1].has == AIMAPPER_CR));
   bool begun = false;
   int fd = 0;

   for (int i = 0; i < count; i++) {
      int to = swap && i > 0 ? 3 - i : i;
      if (!fits(planes[i].offset) || planes[i].stride <= 0 || !fits(planes[i].stride))
         return -EINVAL;
      /* A second plane that begins a buffer begins one of its own. */
      if (planes[i].offset == 0) {
         fd += begun;
         begun = true;
      }
      if (fd >= hnd->handle->numFds)
         return -EINVAL;
      out->fds[to] = hnd->handle->data[fd];
      out->offsets[to] = planes[i].offset;
      out->strides[to] = planes[i].stride;
   }
   out->num_planes = count;

   return 0;
}

static uint64_t
choose_modifier(enum evidence evidence, enum compression compression, uint64_t modifier, int count)
{
   if (evidence)
      return DRM_FORMAT_MOD_QCOM_COMPRESSED;

   /* Compressed in a way that these planes do not describe; or the mapper contradicts itself. */
   if (compression == COMPRESSION_UBWC || compression == COMPRESSION_OTHER ||
       modifier == DRM_FORMAT_MOD_QCOM_COMPRESSED)
      return DRM_FORMAT_MOD_INVALID;
   /* No format has so many planes of pixels. Qualcomm's mapper says LINEAR of all buffers. */
   if (compression == COMPRESSION_UNKNOWN && count > 3)
      return DRM_FORMAT_MOD_INVALID;
   if (modifier == DRM_FORMAT_MOD_INVALID && compression == COMPRESSION_NONE)
      return DRM_FORMAT_MOD_LINEAR;

   /* Turnip takes others, as that of lossy UBWC, for no modifier. */
   return modifier == DRM_FORMAT_MOD_LINEAR ? modifier : DRM_FORMAT_MOD_INVALID;
}

static int
read_basic_info(const struct aimapper *mapper, struct u_gralloc_buffer_handle *hnd,
                struct u_gralloc_buffer_basic_info *out)
{
   const native_handle_t *handle = hnd->handle;
   if (!handle || handle->numFds < 1)
      return -EINVAL;

   uint64_t number;
   int hal_format = hnd->hal_format;
   if (!hal_format && !get_number(mapper, handle, AIMAPPER_PIXEL_FORMAT_REQUESTED, 4, &number))
      hal_format = (int32_t)number;

   uint64_t said_fourcc = 0, modifier = DRM_FORMAT_MOD_INVALID;
   get_number(mapper, handle, AIMAPPER_PIXEL_FORMAT_FOURCC, 4, &said_fourcc);
   get_number(mapper, handle, AIMAPPER_PIXEL_FORMAT_MODIFIER, 8, &modifier);
   uint32_t fourcc = (uint32_t)said_fourcc;

   enum compression compression = get_compression(mapper, handle);
   struct plane planes[AIMAPPER_MAX_PLANES];
   int count = get_planes(mapper, handle, planes);

   bool yuv = is_yuv(hal_format, fourcc, planes, count);
   enum evidence evidence = yuv ? NOT_COMPRESSED :
      find_evidence(mapper, handle, compression, planes, count, modifier);

   bool flag;
   if (!yuv && compression == COMPRESSION_UNKNOWN && count < 0 &&
       modifier == DRM_FORMAT_MOD_INVALID && read_handle(handle, &flag)) {
      warn_once("the mapper knows nothing of a buffer (PLANE_LAYOUTS: %d); its handle's flags say "
                "%s", count, flag ? "UBWC" : "linear");
      evidence = flag ? BY_HANDLE : NOT_COMPRESSED;
      modifier = DRM_FORMAT_MOD_LINEAR;
   }

   /* Qualcomm's mapper answers 0 for what the HAL format already says. */
   if (yuv && !fourcc) {
      fourcc = get_fourcc_from_planes(planes, count);
   } else if (!yuv && (!fourcc || (evidence && hal_format != AIMAPPER_IMPLEMENTATION_DEFINED))) {
      int known = get_fourcc_from_hal_format(hal_format);
      if (known != -1)
         fourcc = (uint32_t)known;
   }
   if (!fourcc)
      return -EINVAL;

   int ret;
   if (evidence) {
      ret = fill_compressed(mapper, hnd, hal_format, planes, count, out);
   } else if (count > 0) {
      ret = fill_planes(hnd, planes, count, fourcc, out);
   } else if (!yuv) {
      const struct plane whole = {.stride = line_size(mapper, hnd, hal_format)};
      ret = fill_planes(hnd, &whole, 1, fourcc, out);
   } else {
      ret = -EINVAL;
   }
   if (ret)
      return ret;

   if (evidence && evidence != BY_HANDLE)
      tell_once(evidence);
   out->modifier = choose_modifier(evidence, compression, modifier, count);
   out->drm_fourcc = fourcc;

#ifdef U_GRALLOC_HAS_ALLOC_SIZE
   if (!get_number(mapper, handle, AIMAPPER_ALLOCATION_SIZE, 8, &number))
      out->alloc_size = number;
#endif
#ifdef U_GRALLOC_HAS_LAYER_COUNT
   if (!get_number(mapper, handle, AIMAPPER_LAYER_COUNT, 8, &number) && number <= INT_MAX)
      out->layer_count = number;
#endif

   return 0;
}

static int
get_buffer_basic_info(struct u_gralloc *gralloc, struct u_gralloc_buffer_handle *hnd,
                      struct u_gralloc_buffer_basic_info *out)
{
   int ret = read_basic_info(((struct aimapper_gralloc *)gralloc)->mapper, hnd, out);

   if (ret)
      warn_once("a buffer is refused, HAL format 0x%x", (unsigned)hnd->hal_format);
   else if (out->modifier == DRM_FORMAT_MOD_INVALID)
      warn_once("a buffer's layout is not known (INVALID), HAL format 0x%x: its picture may be wrong",
                (unsigned)hnd->hal_format);

   return ret;
}

/*
 * Colours: android.hardware.graphics.common's Dataspace and ChromaSiting.
 */

static int
get_buffer_color_info(struct u_gralloc *gralloc, struct u_gralloc_buffer_handle *hnd,
                      struct u_gralloc_buffer_color_info *out)
{
   const struct aimapper *mapper = ((struct aimapper_gralloc *)gralloc)->mapper;
   uint64_t dataspace = 0, fourcc = 0;
   struct metadata m;
   if (!hnd->handle)
      return -EINVAL;

   struct plane planes[AIMAPPER_MAX_PLANES];
   get_number(mapper, hnd->handle, AIMAPPER_PIXEL_FORMAT_FOURCC, 4, &fourcc);
   int count = get_planes(mapper, hnd->handle, planes);
   bool yuv = is_yuv(hnd->hal_format, (uint32_t)fourcc, planes, count);
   if (get_number(mapper, hnd->handle, AIMAPPER_DATASPACE, 4, &dataspace) && !yuv)
      return -EINVAL;

   /* Video says nothing where it is of the usual kind; Mesa takes silence for RGB, full range. */
   if (yuv)
      *out = (struct u_gralloc_buffer_color_info){
         .yuv_color_space = __DRI_YUV_COLOR_SPACE_ITU_REC601,
         .sample_range = __DRI_YUV_NARROW_RANGE,
         .horizontal_siting = __DRI_YUV_CHROMA_SITING_0_5,
         .vertical_siting = __DRI_YUV_CHROMA_SITING_0_5,
      };

   switch ((dataspace >> 16) & 0x3f) { /* STANDARD */
   case 1:
      out->yuv_color_space = __DRI_YUV_COLOR_SPACE_ITU_REC709;
      break;
   case 2: /* BT.601, 625 lines */
   case 3:
   case 4: /* BT.601, 525 lines */
   case 5:
      out->yuv_color_space = __DRI_YUV_COLOR_SPACE_ITU_REC601;
      break;
   case 6:
   case 7: /* constant luminance */
      out->yuv_color_space = __DRI_YUV_COLOR_SPACE_ITU_REC2020;
      break;
   }

   switch ((dataspace >> 27) & 0x7) { /* RANGE */
   case 1:
      out->sample_range = __DRI_YUV_FULL_RANGE;
      break;
   case 2:
      out->sample_range = __DRI_YUV_NARROW_RANGE;
      break;
   }

   if (get_metadata(mapper, hnd->handle, AIMAPPER_CHROMA_SITING, &m))
      return 0; /* optional */
   bool is_aosp = read_name(&m.payload, "android.hardware.graphics.common.ChromaSiting");
   int64_t siting = read_i64(&m.payload);
   if (is_aosp && !m.payload.bad && siting >= 2 && siting <= 5) {
      /* 2: between the luma samples; 3: beside them horizontally; 4: vertically; 5: both */
      out->horizontal_siting = siting == 3 || siting == 5 ? __DRI_YUV_CHROMA_SITING_0 :
                                                            __DRI_YUV_CHROMA_SITING_0_5;
      out->vertical_siting = siting >= 4 ? __DRI_YUV_CHROMA_SITING_0 :
                                           __DRI_YUV_CHROMA_SITING_0_5;
   }
   finish_metadata(&m);

   return 0;
}

static int
get_front_rendering_usage(UNUSED struct u_gralloc *gralloc, UNUSED uint64_t *out_usage)
{
#if ANDROID_API_LEVEL >= 33
   *out_usage = UINT64_C(1) << 32; /* BufferUsage::FRONT_BUFFER */
   return 0;
#else
   return -ENOTSUP;
#endif
}

static int
destroy(struct u_gralloc *gralloc)
{
   FREE(gralloc);

   return 0;
}

struct u_gralloc *
u_gralloc_aimapper_create(void)
{
   const struct aimapper *mapper = get_mapper();
   if (!mapper)
      return NULL;

   struct aimapper_gralloc *gr = CALLOC_STRUCT(aimapper_gralloc);
   if (!gr)
      return NULL;

   gr->mapper = mapper;
   gr->base.ops.get_buffer_basic_info = get_buffer_basic_info;
   gr->base.ops.get_buffer_color_info = get_buffer_color_info;
   gr->base.ops.get_front_rendering_usage = get_front_rendering_usage;
   gr->base.ops.destroy = destroy;

   mesa_logi("Using IMapper v5 stable-C API via SP-HAL");

   return &gr->base;
}
