#version 450
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_EXT_shader_image_int64 : require
// In three steps: set to nothing, add, read.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push
{
    uint step_;
};
layout(set = 0, binding = 0, r64ui) uniform u64image2D image;
layout(set = 0, binding = 1) buffer Data
{
    uint64_t sum;
};

void main()
{
    if (step_ == 0u)
        imageStore(image, ivec2(0), u64vec4(0ul));
    else if (step_ == 1u)
        imageAtomicAdd(image, ivec2(0), 0x100000001ul);
    else
        sum = imageLoad(image, ivec2(0)).x;
}
