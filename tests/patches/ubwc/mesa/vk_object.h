/* A stand-in for the runtime's objects: a handle is the object's address. */
#ifndef STAND_IN_VK_OBJECT_H
#define STAND_IN_VK_OBJECT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct vk_object_base {
    int nothing;
};

#define VK_DEFINE_HANDLE_CASTS(type, member, handle, object)                                       \
    static inline struct type *type##_from_handle(handle h)                                        \
    {                                                                                              \
        return (struct type *)(void *)h;                                                           \
    }
#define VK_FROM_HANDLE(type, name, handle) struct type *name = type##_from_handle(handle)

#define vk_errorf(object, error, ...) ((void)(object), (error))

#endif
