#version 450
// One word from each kind of descriptor.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Words
{
    uint words[];
};
layout(set = 0, binding = 1) uniform Uniforms
{
    uvec4 uniforms;
};
layout(set = 0, binding = 2, r32ui) uniform uimage2D image;
layout(set = 0, binding = 3) uniform sampler2D texture_;
layout(set = 0, binding = 4) uniform usamplerBuffer texels;

void main()
{
    imageStore(image, ivec2(1, 1), uvec4(0x1234u));
    memoryBarrierImage();
    words[0] = uniforms.y;
    words[1] = imageLoad(image, ivec2(1, 1)).x;
    words[2] = packUnorm4x8(textureLod(texture_, vec2(0.5), 0.0));
    words[3] = texelFetch(texels, 5).x;
}
