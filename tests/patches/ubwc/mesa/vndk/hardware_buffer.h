/* A stand-in with the NDK's numbers. */
enum {
    AHARDWAREBUFFER_USAGE_CPU_WRITE_RARELY = 2 << 4,
    AHARDWAREBUFFER_USAGE_GPU_FRAMEBUFFER = 1 << 9,
};
