/* Stand-in for Android's header, as the backend needs it.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_NATIVE_HANDLE_H
#define STANDIN_NATIVE_HANDLE_H

typedef struct native_handle {
    int version;
    int numFds;
    int numInts;
    int data[];
} native_handle_t;

#endif
