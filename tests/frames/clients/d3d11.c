/*
 * d3d11.exe [--frames N] [--still K] [--save FILE] [--size WxH] [--interval N]: a Direct3D 11
 * program for Windows, run by wine.test.sh. Four quarters, before them a square of four triangles
 * that turns by 6 degrees a frame. From frame K on the picture stays the same; it is written to
 * FILE (PPM) as Direct3D itself has it. It ends after N frames.
 */
#define COBJMACROS
#define INITGUID
#include <initguid.h>

#include <d3d11.h>
#include <d3dcompiler.h>
#include <dxgi1_2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define TURN (6 * 3.14159265358979 / 180)

struct vertex {
    float x, y, turns; /* turns: 1, or 0 for what stands still */
    float colour[3];
};

#define C(rgb)                                                                                     \
    {                                                                                              \
        ((rgb) >> 16 & 255) / 255.f, ((rgb) >> 8 & 255) / 255.f, ((rgb)&255) / 255.f               \
    }
#define QUARTER(x0, y0, x1, y1, rgb)                                                               \
    {x0, y1, 0, C(rgb)}, {x1, y1, 0, C(rgb)}, {x0, y0, 0, C(rgb)}, {x0, y0, 0, C(rgb)},            \
        {x1, y1, 0, C(rgb)},                                                                       \
    {                                                                                              \
        x1, y0, 0, C(rgb)                                                                          \
    }
#define SIDE(x0, y0, x1, y1, rgb)                                                                  \
    {0, 0, 1, C(rgb)}, {x0, y0, 1, C(rgb)},                                                        \
    {                                                                                              \
        x1, y1, 1, C(rgb)                                                                          \
    }

static const struct vertex vertices[] = {
    QUARTER(-1, 0, 0, 1, 0xc81e0a),
    QUARTER(0, 0, 1, 1, 0x0ac81e),
    QUARTER(-1, -1, 0, 0, 0x1e0ac8),
    QUARTER(0, -1, 1, 0, 0xc8c80a),
    SIDE(-.5f, .5f, .5f, .5f, 0xf0f0f0),
    SIDE(.5f, .5f, .5f, -.5f, 0x00a0a0),
    SIDE(.5f, -.5f, -.5f, -.5f, 0x202020),
    SIDE(-.5f, -.5f, -.5f, .5f, 0xa000a0),
};

static const char shader[] =
    "float4 turn : register(c0);\n" /* cosine, sine, height by width */
    "struct point_of { float4 at : SV_POSITION; float3 colour : COLOR; };\n"
    "point_of vertex(float3 at : POSITION, float3 colour : COLOR) {\n"
    "    point_of p;\n"
    "    float x = (at.x * turn.x + at.y * turn.y) * turn.z;\n"
    "    float y = at.y * turn.x - at.x * turn.y;\n"
    "    p.at = float4(at.x + (x - at.x) * at.z, at.y + (y - at.y) * at.z, 0, 1);\n"
    "    p.colour = colour;\n"
    "    return p;\n"
    "}\n"
    "float4 pixel(point_of p) : SV_TARGET { return float4(p.colour, 1); }\n";

static UINT width = 1280, height = 720;
static ID3D11Device *device;
static ID3D11DeviceContext *context;
static IDXGISwapChain1 *swapchain;
static ID3D11Buffer *constants;

static void must(HRESULT r, const char *what)
{
    if (FAILED(r)) {
        fprintf(stderr, "d3d11: %s: 0x%08lx\n", what, (unsigned long)r);
        exit(1);
    }
}

static HWND make_window(void)
{
    const WNDCLASSA class = {.lpfnWndProc = DefWindowProcA,
        .hInstance = GetModuleHandleA(NULL),
        .lpszClassName = "d3d11"};

    RegisterClassA(&class);
    HWND w = CreateWindowA("d3d11", "d3d11", WS_POPUP | WS_VISIBLE, 0, 0, (int)width, (int)height,
        NULL, NULL, class.hInstance, NULL);
    must(w ? S_OK : E_FAIL, "a window");
    return w;
}

static void make_device(HWND window)
{
    DXGI_SWAP_CHAIN_DESC1 want = {.Width = width,
        .Height = height,
        .Format = DXGI_FORMAT_B8G8R8A8_UNORM,
        .SampleDesc = {1, 0},
        .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
        .BufferCount = 3,
        .SwapEffect = DXGI_SWAP_EFFECT_FLIP_DISCARD};
    D3D_FEATURE_LEVEL level;
    DXGI_ADAPTER_DESC about;
    IDXGIDevice *dxgi;
    IDXGIAdapter *adapter;
    IDXGIFactory2 *factory;

    must(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION,
             &device, &level, &context),
        "a device");
    must(ID3D11Device_QueryInterface(device, &IID_IDXGIDevice, (void **)&dxgi), "its DXGI");
    must(IDXGIDevice_GetAdapter(dxgi, &adapter), "its adapter");
    must(IDXGIAdapter_GetDesc(adapter, &about), "the adapter's name");
    must(IDXGIAdapter_GetParent(adapter, &IID_IDXGIFactory2, (void **)&factory), "its factory");
    printf("d3d11: feature level %x, %ls\n", level, about.Description);
    fflush(stdout);
    must(IDXGIFactory2_CreateSwapChainForHwnd(
             factory, (IUnknown *)device, window, &want, NULL, NULL, &swapchain),
        "a swapchain");
    IDXGIFactory2_Release(factory);
    IDXGIAdapter_Release(adapter);
    IDXGIDevice_Release(dxgi);
}

static ID3DBlob *compile(const char *entry, const char *target)
{
    ID3DBlob *code = NULL, *said = NULL;
    HRESULT r =
        D3DCompile(shader, strlen(shader), NULL, NULL, NULL, entry, target, 0, 0, &code, &said);

    if (said)
        fprintf(stderr, "%s", (const char *)ID3D10Blob_GetBufferPointer(said));
    must(r, entry);
    return code;
}

static ID3D11Buffer *make_buffer(UINT bytes, UINT binding, const void *data)
{
    const D3D11_BUFFER_DESC want = {.ByteWidth = bytes, .BindFlags = binding};
    const D3D11_SUBRESOURCE_DATA initial = {.pSysMem = data};
    ID3D11Buffer *b;

    must(ID3D11Device_CreateBuffer(device, &want, data ? &initial : NULL, &b), "a buffer");
    return b;
}

static void set_up(void)
{
    static const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32_FLOAT, 0, 12, D3D11_INPUT_PER_VERTEX_DATA, 0}};
    const D3D11_VIEWPORT all = {0, 0, (float)width, (float)height, 0, 1};
    const UINT stride = sizeof(struct vertex), offset = 0;
    ID3DBlob *code = compile("vertex", "vs_4_0"), *pixels = compile("pixel", "ps_4_0");
    ID3D11VertexShader *vs;
    ID3D11PixelShader *ps;
    ID3D11InputLayout *layout;

    must(ID3D11Device_CreateVertexShader(
             device, ID3D10Blob_GetBufferPointer(code), ID3D10Blob_GetBufferSize(code), NULL, &vs),
        "a vertex shader");
    must(ID3D11Device_CreatePixelShader(device, ID3D10Blob_GetBufferPointer(pixels),
             ID3D10Blob_GetBufferSize(pixels), NULL, &ps),
        "a pixel shader");
    must(ID3D11Device_CreateInputLayout(device, elements, 2, ID3D10Blob_GetBufferPointer(code),
             ID3D10Blob_GetBufferSize(code), &layout),
        "an input layout");
    ID3D11Buffer *points = make_buffer(sizeof vertices, D3D11_BIND_VERTEX_BUFFER, vertices);
    constants = make_buffer(16, D3D11_BIND_CONSTANT_BUFFER, NULL);
    ID3D11DeviceContext_IASetInputLayout(context, layout);
    ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D11DeviceContext_IASetVertexBuffers(context, 0, 1, &points, &stride, &offset);
    ID3D11DeviceContext_VSSetShader(context, vs, NULL, 0);
    ID3D11DeviceContext_VSSetConstantBuffers(context, 0, 1, &constants);
    ID3D11DeviceContext_PSSetShader(context, ps, NULL, 0);
    ID3D11DeviceContext_RSSetViewports(context, 1, &all);
}

static void draw(ID3D11Texture2D *into, unsigned frame)
{
    const float turn[4] = {
        (float)cos(frame * TURN), (float)sin(frame * TURN), (float)height / (float)width, 0};
    ID3D11RenderTargetView *view;

    must(ID3D11Device_CreateRenderTargetView(device, (ID3D11Resource *)into, NULL, &view),
        "a view of the back buffer");
    ID3D11DeviceContext_UpdateSubresource(
        context, (ID3D11Resource *)constants, 0, NULL, turn, 0, 0);
    ID3D11DeviceContext_OMSetRenderTargets(context, 1, &view, NULL);
    ID3D11DeviceContext_Draw(context, sizeof vertices / sizeof *vertices, 0);
    ID3D11RenderTargetView_Release(view);
}

static void save(ID3D11Texture2D *from, const char *path)
{
    D3D11_TEXTURE2D_DESC like;
    D3D11_MAPPED_SUBRESOURCE at;
    ID3D11Texture2D *copy;
    FILE *f = fopen(path, "wb");

    must(f ? S_OK : E_FAIL, path);
    ID3D11Texture2D_GetDesc(from, &like);
    like.Usage = D3D11_USAGE_STAGING;
    like.BindFlags = like.MiscFlags = 0;
    like.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    must(ID3D11Device_CreateTexture2D(device, &like, NULL, &copy), "a staging texture");
    ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)copy, (ID3D11Resource *)from);
    must(ID3D11DeviceContext_Map(context, (ID3D11Resource *)copy, 0, D3D11_MAP_READ, 0, &at),
        "the staging texture");
    fprintf(f, "P6\n%u %u\n255\n", like.Width, like.Height);
    for (UINT y = 0; y < like.Height; y++) {
        const BYTE *row = (const BYTE *)at.pData + (size_t)y * at.RowPitch;
        for (UINT x = 0; x < like.Width; x++) {
            const BYTE rgb[3] = {row[4 * x + 2], row[4 * x + 1], row[4 * x]};
            fwrite(rgb, 1, 3, f);
        }
    }
    ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)copy, 0);
    ID3D11Texture2D_Release(copy);
    must(fclose(f) == 0 ? S_OK : E_FAIL, path);
    printf("d3d11: %s is written\n", path);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    unsigned frames = 0, still = ~0u, interval = 1, frame;
    const char *path = NULL;
    MSG message;

    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--frames"))
            frames = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i], "--still"))
            still = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i], "--interval"))
            interval = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i], "--save"))
            path = value;
        else if (strcmp(argv[i], "--size") != 0 || sscanf(value, "%ux%u", &width, &height) != 2) {
            fprintf(stderr, "d3d11: %s is not known\n", argv[i]);
            return 2;
        }
    }
    make_device(make_window());
    set_up();
    for (frame = 0; frames == 0 || frame < frames; frame++) {
        ID3D11Texture2D *back;
        while (PeekMessageA(&message, NULL, 0, 0, PM_REMOVE))
            DispatchMessageA(&message);
        must(IDXGISwapChain1_GetBuffer(swapchain, 0, &IID_ID3D11Texture2D, (void **)&back),
            "the back buffer");
        draw(back, frame < still ? frame : still);
        if (path && frame == still)
            save(back, path);
        ID3D11Texture2D_Release(back);
        must(IDXGISwapChain1_Present(swapchain, interval, 0), "a present");
    }
    printf("d3d11: %u frames\n", frame);
    return 0;
}
