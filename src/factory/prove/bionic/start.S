/* Where linker64 begins the program: on the stack lie argc, argv and the environment. */
    .text
    .globl _start
    .hidden _start
    .type _start, %function
_start:
    mov x29, #0
    mov x30, #0
    mov x0, sp
    b tp_bionic_start
    .size _start, . - _start

    .section .note.GNU-stack, "", %progbits
