#version 450
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data
{
    uint64_t sum;
    uint64_t most;
};

void main()
{
    atomicAdd(sum, 0x100000001ul);
    atomicMax(most, uint64_t(gl_GlobalInvocationID.x) << 33);
}
