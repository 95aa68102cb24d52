/* Fixture: Android traces by itself. */
#ifndef CPU_TRACE_H
#define CPU_TRACE_H

#include "u_perfetto.h"

#include "util/detect_os.h"

#if defined(HAVE_PERFETTO)

#define _MESA_TRACE_BEGIN(name) util_perfetto_trace_begin(name)
#define _MESA_TRACE_END() util_perfetto_trace_end()

#elif DETECT_OS_ANDROID && !defined(__cplusplus)

#include <cutils/trace.h>

#define _MESA_TRACE_BEGIN(name) atrace_begin(ATRACE_TAG_GRAPHICS, name)
#define _MESA_TRACE_END() atrace_end(ATRACE_TAG_GRAPHICS)

#else

#define _MESA_TRACE_BEGIN(name)
#define _MESA_TRACE_END()

#endif /* HAVE_PERFETTO */

static inline void
util_cpu_trace_init(void)
{
   util_perfetto_init();
}

#endif
