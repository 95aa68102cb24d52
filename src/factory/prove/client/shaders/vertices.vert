#version 450
// The same from a vertex buffer.
layout(push_constant) uniform Push
{
    vec4 color;
    vec4 place;
} push;
layout(location = 0) in vec2 position;
layout(location = 0) out vec4 color;

void main()
{
    gl_Position = vec4(position, push.place.w, 1.0);
    color = push.color;
}
