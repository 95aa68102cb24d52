/* The report of any capture: its page, text and JSON. The input is the blocks' records, in a block
 * whose checksum is right; the first byte says how many bytes are in the first of two. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/capture.h"
#include "report/html.h"

static int put_block(int fd, const uint8_t *bytes, size_t n, uint32_t number)
{
    static struct tp_capture_block b;
    tp_block_begin(&b);
    memcpy(b.bytes + b.n, bytes, n);
    b.n += n;
    tp_block_seal(&b, number);
    return write(fd, b.bytes, b.n) == (ssize_t)b.n ? 0 : -1;
}

static unsigned times(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strcasestr(text, part)); text++)
        n++;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    uint8_t header[TP_CAPTURE_HEADER];
    if (size < 1 || size > TP_CAPTURE_ROOM - TP_CAPTURE_HEADER)
        return 0;
    int fd = memfd_create("capture", 0);
    assert(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    tp_recorder_header(header);
    assert(write(fd, header, sizeof header) == sizeof header);
    size_t first = (size - 1) * data[0] / 256;
    assert(put_block(fd, data + 1, first, 0) == 0);
    assert(put_block(fd, data + 1 + first, size - 1 - first, 1) == 0);
    struct tp_report *r = NULL;
    assert(tp_report_read(path, &r, NULL) == 0);
    struct tp_buf text = {0};
    tp_report_text(r, &text);
    tp_report_missing(r, &text);
    tp_buf_clear(&text);
    tp_report_html(r, "x.cap", &text);
    /* Nothing of the capture begins a script, or ends the one that the data is in. */
    assert(times(tp_buf_str(&text), "<script") == 3);
    assert(times(tp_buf_str(&text), "</script") == 3);
    json_t *j = tp_report_json(r);
    char *dump = json_dumps(j, 0);
    assert(dump);
    free(dump);
    json_decref(j);
    tp_buf_finish(&text);
    tp_report_destroy(r);
    close(fd);
    return 0;
}
