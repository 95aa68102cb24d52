/* A libdl.so to link against, as libc.S. */
    .text
    .irp name, dlclose, dlerror, dlopen, dlsym
    .globl \name
    .type \name, %function
\name:
    .endr

    .section .note.GNU-stack, "", %progbits
