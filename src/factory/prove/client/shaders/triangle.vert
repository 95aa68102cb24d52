#version 450
// A triangle that covers the whole target, from the vertices' numbers alone.
layout(push_constant) uniform Push
{
    vec4 color;
    vec4 place; // w: depth
} push;
layout(location = 0) out vec4 color;

void main()
{
    vec2 corner = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(corner * 2.0 - 1.0, push.place.w, 1.0);
    color = push.color;
}
