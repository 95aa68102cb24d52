#version 450
// Each group's sum, through memory that its invocations share.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) buffer Data
{
    uint data[];
};
layout(set = 0, binding = 1) buffer Sums
{
    uint sums[];
};
shared uint part[128];

void main()
{
    uint own = gl_LocalInvocationIndex;
    part[own] = data[gl_GlobalInvocationID.x];
    for (uint half_count = 64u; half_count > 0u; half_count >>= 1) {
        barrier();
        if (own < half_count)
            part[own] += part[own + half_count];
    }
    if (own == 0u)
        sums[gl_WorkGroupID.x] = part[0];
}
