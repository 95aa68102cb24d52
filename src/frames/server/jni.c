/*
 * The server for Java: class org.turnpike.DisplayServer (docs/embedding.md). Types and places in
 * JNIEnv's table are those of the JNI specification (chapter 4, "Interface Function Table"); no
 * jni.h is needed.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frames/server/jni_table.h"
#include "turnpike/server.h"

typedef void *jobject;
typedef int32_t jint;
typedef int64_t jlong;
typedef uint8_t jboolean;

#define EXPORT __attribute__((visibility("default")))
#define METHOD(result, name) EXPORT result Java_org_turnpike_DisplayServer_##name

#define LOG_WARN 5 /* ANDROID_LOG_WARN */

/* A data pointer becomes a function's, as POSIX has it for dlsym. */
static bool look_up(const char *library, const char *name, void *function)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *found = handle ? dlsym(handle, name) : NULL;
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void on_line(void *data, const char *line)
{
    int (*write_line)(int, const char *, const char *);
    (void)data;
    if (look_up("liblog.so", "__android_log_write", &write_line))
        write_line(LOG_WARN, "turnpike", line);
}

static void throw_state(tp_jni_env *env, const char *what)
{
    jobject class = TP_JNI(env, TP_JNI_FIND_CLASS, jobject(*)(tp_jni_env *, const char *))(
        env, "java/lang/IllegalStateException");
    if (class)
        TP_JNI(env, TP_JNI_THROW_NEW, jint(*)(tp_jni_env *, jobject, const char *))
        (env, class, what);
}

static struct turnpike_server *of(jlong server)
{
    return (struct turnpike_server *)(intptr_t)server;
}

METHOD(jlong, create)
(tp_jni_env *env, jobject class, jobject path, jint width_px, jint height_px, jint refresh_mhz,
    jboolean hdr);
METHOD(jlong, create)
(tp_jni_env *env, jobject class, jobject path, jint width_px, jint height_px, jint refresh_mhz,
    jboolean hdr)
{
    struct turnpike_server_config config = {.size = sizeof config,
        .width_px = width_px > 0 ? (uint32_t)width_px : 0,
        .height_px = height_px > 0 ? (uint32_t)height_px : 0,
        .refresh_mhz = refresh_mhz > 0 ? (uint32_t)refresh_mhz : 0,
        .hdr = hdr,
        .log = on_line};
    struct turnpike_server *server;
    const char *chars = NULL;
    char error[512];
    (void)class;
    if (path)
        chars = TP_JNI(env, TP_JNI_GET_STRING_UTF_CHARS,
            const char *(*)(tp_jni_env *, jobject, jboolean *))(env, path, NULL);
    config.socket_path = chars;
    int r = turnpike_server_create(&config, &server, error, sizeof error);
    if (chars)
        TP_JNI(env, TP_JNI_RELEASE_STRING_UTF_CHARS, void (*)(tp_jni_env *, jobject, const char *))
        (env, path, chars);
    if (r < 0)
        throw_state(env, error);
    return (jlong)(intptr_t)server;
}

METHOD(void, setSurface)(tp_jni_env *env, jobject class, jlong server, jobject surface);
METHOD(void, setSurface)(tp_jni_env *env, jobject class, jlong server, jobject surface)
{
    void *(*from_surface)(tp_jni_env *, jobject);
    void (*release)(void *);
    (void)class;
    if (!surface) {
        turnpike_server_set_window(of(server), NULL);
        return;
    }
    if (!look_up("libandroid.so", "ANativeWindow_fromSurface", &from_surface) ||
        !look_up("libnativewindow.so", "ANativeWindow_release", &release)) {
        throw_state(env, "this Android has no ANativeWindow_fromSurface");
        return;
    }
    void *window = from_surface(env, surface);
    turnpike_server_set_window(of(server), window);
    if (window)
        release(window);
}

#define CALL(name, call)                                                                           \
    METHOD(void, name)(tp_jni_env * env, jobject class, jlong server);                             \
    METHOD(void, name)(tp_jni_env * env, jobject class, jlong server)                              \
    {                                                                                              \
        (void)env;                                                                                 \
        (void)class;                                                                               \
        call(of(server));                                                                          \
    }
CALL(resize, turnpike_server_resize)
CALL(pause, turnpike_server_pause)
CALL(resume, turnpike_server_resume)
CALL(repaint, turnpike_server_repaint)
CALL(destroy, turnpike_server_destroy)

METHOD(void, setHdr)(tp_jni_env *env, jobject class, jlong server, jboolean hdr);
METHOD(void, setHdr)(tp_jni_env *env, jobject class, jlong server, jboolean hdr)
{
    (void)env;
    (void)class;
    turnpike_server_set_hdr(of(server), hdr);
}

METHOD(jint, adopt)(tp_jni_env *env, jobject class, jlong server, jint fd);
METHOD(jint, adopt)(tp_jni_env *env, jobject class, jlong server, jint fd)
{
    (void)env;
    (void)class;
    return turnpike_server_adopt(of(server), fd);
}
