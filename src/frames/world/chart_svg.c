/*
 * Marks on the paper, as SVG. The paper is part of the picture, so that it can be read on any page;
 * what the reader's system prefers, light or dark, says how it looks. Places are whole numbers, so that
 * they are the same on every machine.
 */
#include <stdarg.h>
#include <stdio.h>

#include "frames/world/chart_internal.h"

/* Frames take turns with four hues, none of them red; red is what went wrong. */
static const char style[] =
    "text{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu "
    "Sans\",Helvetica,Arial,sans-serif;"
    "fill:#1f2328}\n"
    ".title{font-size:16px;font-weight:600}\n"
    ".small,.number{font-size:11px}\n"
    ".number{text-anchor:middle}\n"
    ".side{text-anchor:end}\n"
    ".middle{text-anchor:middle}\n"
    ".bad{fill:#cf222e;font-weight:600}\n"
    ".paper{fill:#fff;stroke:#d1d9e0}\n"
    ".lane{fill:#8b949e;fill-opacity:.1}\n"
    ".refresh{stroke:#8b949e}\n"
    ".latch{stroke:#8b949e;stroke-dasharray:2 3}\n"
    ".hold{fill:none;stroke:#59636e;stroke-dasharray:4 2}\n"
    ".wait{fill:url(#hatch);stroke:#59636e}\n"
    ".hatch,.bracket{stroke:#59636e;fill:none}\n"
    ".drop{stroke:#59636e;stroke-dasharray:1 2}\n"
    ".beam{stroke:#1f2328;stroke-opacity:.45}\n"
    ".ring,.torn{fill:none;stroke:#cf222e;stroke-width:2.5;stroke-linejoin:round}\n"
    ".late{fill:#cf222e}\n"
    ".f0{fill:#8db9f2;stroke:#3d78c2}\n"
    ".f1{fill:#86d0a8;stroke:#2f8a5b}\n"
    ".f2{fill:#cbb0ee;stroke:#8056b8}\n"
    ".f3{fill:#e6cf7a;stroke:#a5851a}\n"
    ".f4{fill:#c3c9d0;stroke:#818b98}\n"
    ".open{fill-opacity:.18}\n"
    ".thin{stroke-width:2}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e6edf3}\n"
    ".bad{fill:#ff7b72}\n"
    ".paper{fill:#0d1117;stroke:#3d444d}\n"
    ".refresh,.latch{stroke:#656c76}\n"
    ".hold,.wait,.hatch,.bracket,.drop{stroke:#9198a1}\n"
    ".beam{stroke:#e6edf3}\n"
    ".ring,.torn{stroke:#ff7b72}\n"
    ".late{fill:#ff7b72}\n"
    ".f0{fill:#24528c;stroke:#6ca4ec}\n"
    ".f1{fill:#1f6040;stroke:#58b987}\n"
    ".f2{fill:#573a85;stroke:#b294e0}\n"
    ".f3{fill:#6b570f;stroke:#d3b440}\n"
    ".f4{fill:#3d444d;stroke:#818b98}\n"
    "}\n";

static void add_number(struct tp_buf *b, int64_t hundredths)
{
    int64_t n = hundredths < 0 ? -hundredths : hundredths;
    if (hundredths < 0)
        tp_buf_addc(b, '-');
    tp_buf_addf(b, "%lld", (long long)(n / 100));
    if (n % 10 > 0)
        tp_buf_addf(b, ".%02d", (int)(n % 100));
    else if (n % 100 > 0)
        tp_buf_addf(b, ".%d", (int)(n % 100 / 10));
}

static void add_attribute(struct tp_buf *b, const char *name, int64_t hundredths)
{
    tp_buf_addf(b, " %s=\"", name);
    add_number(b, hundredths);
    tp_buf_addc(b, '"');
}

static void add_escaped(struct tp_buf *b, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            tp_buf_adds(b, "&lt;");
        else if (*text == '&')
            tp_buf_adds(b, "&amp;");
        else
            tp_buf_addc(b, *text);
}

void svg_begin(struct tp_buf *b, int width_px, int height_px, const char *title, const char *desc)
{
    tp_buf_addf(b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" "
        "role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">",
        width_px, height_px, width_px, height_px);
    add_escaped(b, title);
    tp_buf_adds(b, "</title>\n<desc id=\"desc\">");
    add_escaped(b, desc);
    tp_buf_addf(b,
        "</desc>\n<style>\n%s</style>\n<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"hatch\" "
        "d=\"M0 0V5\"/></pattern></defs>\n"
        "<rect class=\"paper\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
        style, width_px - 1, height_px - 1);
}

void svg_end(struct tp_buf *b)
{
    tp_buf_adds(b, "</svg>\n");
}

void svg_rect(struct tp_buf *b, const char *class, int64_t x, int64_t y, int64_t w, int64_t h,
    const char *tip)
{
    tp_buf_addf(b, "<rect class=\"%s\"", class);
    add_attribute(b, "x", x);
    add_attribute(b, "y", y);
    add_attribute(b, "width", w);
    add_attribute(b, "height", h);
    if (tip) {
        tp_buf_adds(b, "><title>");
        add_escaped(b, tip);
        tp_buf_adds(b, "</title></rect>\n");
    } else {
        tp_buf_adds(b, "/>\n");
    }
}

void svg_line(struct tp_buf *b, const char *class, int64_t x1, int64_t y1, int64_t x2, int64_t y2)
{
    tp_buf_addf(b, "<line class=\"%s\"", class);
    add_attribute(b, "x1", x1);
    add_attribute(b, "y1", y1);
    add_attribute(b, "x2", x2);
    add_attribute(b, "y2", y2);
    tp_buf_adds(b, "/>\n");
}

void svg_text(struct tp_buf *b, const char *class, int64_t x, int64_t y, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tp_buf_addf(b, "<text class=\"%s\"", class);
    add_attribute(b, "x", x);
    add_attribute(b, "y", y);
    tp_buf_addc(b, '>');
    add_escaped(b, text);
    tp_buf_adds(b, "</text>\n");
}

static void add_move(struct tp_buf *b, const char *command, int64_t x, int64_t y)
{
    tp_buf_adds(b, command);
    add_number(b, x);
    tp_buf_addc(b, ' ');
    add_number(b, y);
}

void svg_late(struct tp_buf *b, int64_t x, int64_t y)
{
    tp_buf_adds(b, "<path class=\"late\" d=\"");
    add_move(b, "M", x, y);
    tp_buf_adds(b, "l-5 9h10z\"/>\n");
}

void svg_repeat(struct tp_buf *b, int64_t x, int64_t y)
{
    tp_buf_adds(b, "<circle class=\"ring\" r=\"4.5\"");
    add_attribute(b, "cx", x);
    add_attribute(b, "cy", y);
    tp_buf_adds(b, "/>\n");
}

void svg_torn(struct tp_buf *b, int64_t x, int64_t y, int64_t h)
{
    tp_buf_adds(b, "<path class=\"torn\" d=\"");
    for (int i = 0; i <= 6; i++)
        add_move(b, i == 0 ? "M" : "L", x + (i % 2 ? 300 : -300), y + h * i / 6);
    tp_buf_adds(b, "\"/>\n");
}

void svg_dropped(struct tp_buf *b, int64_t x, int64_t y)
{
    tp_buf_adds(b, "<path class=\"torn\" d=\"");
    add_move(b, "M", x - 400, y - 400);
    tp_buf_adds(b, "l8 8m0-8l-8 8\"/>\n");
}
