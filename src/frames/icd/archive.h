/*
 * Drivers in archives. A library of its own (libturnpike-archive.so), which is loaded only where
 * TURNPIKE_DRIVER names an archive: no game's process is bothered otherwise with what reads one.
 */
#ifndef TP_FRAMES_ICD_ARCHIVE_H
#define TP_FRAMES_ICD_ARCHIVE_H

#include "base/error.h"

/* The driver in the archive at path, written to fd (borrowed). Errors: tp_driver_read's, write's.
 */
typedef int tp_archive_extract_function(const char *path, int fd, struct tp_error *e);
#define TP_ARCHIVE_LIBRARY "libturnpike-archive.so"
#define TP_ARCHIVE_EXTRACT "tp_archive_extract"

#endif
