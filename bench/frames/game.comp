#version 450
/* As much arithmetic as is asked for, on the frame's own numbers. */
layout(local_size_x = 256) in;
layout(push_constant) uniform Frame
{
    uint turns;
    float number;
};
layout(set = 0, binding = 0) buffer Numbers
{
    float numbers[];
};

void main()
{
    float x = float(gl_GlobalInvocationID.x) * 1e-6 + number;
    for (uint i = 0; i < turns; i++)
        x = x * 0.999 + 0.001 * (x - x * x);
    numbers[gl_GlobalInvocationID.x] = x;
}
