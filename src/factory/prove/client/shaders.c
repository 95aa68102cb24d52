/*
 * The shaders, compiled from shaders/ when the client is built.
 */
#include <string.h>

#include "client.h"

#include "atomics64_buffer.comp.h"
#include "atomics64_image.comp.h"
#include "color.frag.h"
#include "fill.comp.h"
#include "reads.comp.h"
#include "shared.comp.h"
#include "triangle.geom.h"
#include "triangle.tesc.h"
#include "triangle.tese.h"
#include "triangle.vert.h"
#include "vertices.vert.h"

static const struct {
    const char *name;
    const uint32_t *words;
    size_t bytes;
} shaders[] = {
#define SHADER(file, words) {file, words, sizeof words}
    SHADER("atomics64_buffer.comp", tp_spirv_atomics64_buffer_comp),
    SHADER("atomics64_image.comp", tp_spirv_atomics64_image_comp),
    SHADER("color.frag", tp_spirv_color_frag),
    SHADER("fill.comp", tp_spirv_fill_comp),
    SHADER("reads.comp", tp_spirv_reads_comp),
    SHADER("shared.comp", tp_spirv_shared_comp),
    SHADER("triangle.geom", tp_spirv_triangle_geom),
    SHADER("triangle.tesc", tp_spirv_triangle_tesc),
    SHADER("triangle.tese", tp_spirv_triangle_tese),
    SHADER("triangle.vert", tp_spirv_triangle_vert),
    SHADER("vertices.vert", tp_spirv_vertices_vert),
#undef SHADER
};

VkShaderModule tp_make_module(struct tp_run *r, const char *name)
{
    for (size_t i = 0; i < sizeof shaders / sizeof *shaders; i++) {
        if (strcmp(shaders[i].name, name))
            continue;
        VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = shaders[i].bytes,
            .pCode = shaders[i].words,
        };
        VkShaderModule module;
        TP_MAKE(r, ShaderModule, &info, &module);
        return module;
    }
    tp_failed(r, "the client has no shader %s", name);
}
