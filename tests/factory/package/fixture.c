/* A stand-in for a driver's file: its entry point and its note, shaped by -D options. */
#ifdef ANDROID_ENTRY
__attribute__((visibility("default"))) int HMI = 1;
#else
__attribute__((visibility("default"))) void *vk_icdGetInstanceProcAddr(void);
void *vk_icdGetInstanceProcAddr(void)
{
    return 0;
}
#endif

#ifndef VARIANT
#define VARIANT "b"
#endif
#ifndef TARGET
#define TARGET "host"
#endif

/* Not defined anywhere: a strong and a weak need of the driver's. */
int fixture_needs_this(void);
__attribute__((weak)) int fixture_may_use_this(void);
__attribute__((visibility("default"))) int fixture_calls(void);
int fixture_calls(void)
{
    return fixture_needs_this() + (fixture_may_use_this ? fixture_may_use_this() : 0);
}

#ifdef POWER
/* The number of the call that sets a KGSL property, as power-max makes it. */
__attribute__((visibility("default"))) unsigned fixture_call(void);
unsigned fixture_call(void)
{
    return 0x40180932u;
}
#endif

#ifndef WITHOUT_NOTE
#if defined(NOTE_SYNTAX)
#define NOTE "{\"turnpike\": "
#elif defined(NOTE_ARRAY)
#define NOTE "[1]"
#elif defined(NOTE_FIELDS)
#define NOTE "{\"schema\": 1}"
#elif defined(NOTE_SCHEMA)
#define NOTE "{\"schema\": 7}"
#else
#define NOTE                                                                                       \
    "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-" VARIANT                    \
    "\", \"variant\": \"" VARIANT "\", \"target\": \"" TARGET "\", \"mesa\": \"25.0.7\", "         \
    "\"patches\": [{\"id\": \"driver-label\", \"state\": \"applied\"}]}"
#endif

struct note {
    unsigned namesz, descsz, type;
    char owner[12];
    char desc[(sizeof NOTE + 3) & ~3UL];
};

__attribute__((section(".note.turnpike"), used, aligned(4))) static const struct note note = {
    9, sizeof NOTE, 1, "turnpike", NOTE,
};
#ifdef SECOND_NOTE
__attribute__((section(".note.turnpike"), used, aligned(4))) static const struct note second = {
    9, sizeof NOTE, 1, "turnpike", NOTE,
};
#endif
#endif
