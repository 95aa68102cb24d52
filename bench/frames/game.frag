#version 450
/* Each pixel once, of what was computed. */
layout(set = 0, binding = 0) readonly buffer Numbers
{
    float numbers[];
};
layout(location = 0) out vec4 colour;

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    colour = vec4(numbers[at.x & 255u], numbers[at.y & 255u], 0.5, 1.0);
}
