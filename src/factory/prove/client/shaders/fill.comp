#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push
{
    uint add;
};
layout(set = 0, binding = 0) buffer Data
{
    uint data[];
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < data.length())
        data[i] = i * 3u + add;
}
