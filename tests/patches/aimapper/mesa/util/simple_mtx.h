/* Stand-in for Mesa's header.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_SIMPLE_MTX_H
#define STANDIN_SIMPLE_MTX_H

#include <pthread.h>

typedef pthread_mutex_t simple_mtx_t;
#define SIMPLE_MTX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define simple_mtx_lock pthread_mutex_lock
#define simple_mtx_unlock pthread_mutex_unlock

#endif
