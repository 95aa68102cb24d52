/* A JNIEnv as the JNI specification lays it out: a pointer to a table of functions. */
#ifndef TP_FRAMES_SERVER_JNI_TABLE_H
#define TP_FRAMES_SERVER_JNI_TABLE_H

typedef void (*tp_jni_function)(void);
typedef const tp_jni_function *tp_jni_env;

enum { /* places in the table */
    TP_JNI_FIND_CLASS = 6,
    TP_JNI_THROW_NEW = 14,
    TP_JNI_GET_STRING_UTF_CHARS = 169,
    TP_JNI_RELEASE_STRING_UTF_CHARS = 170,
};

/* The function at that place. */
#define TP_JNI(env, place, type) ((type)(*(env))[place])

#endif
