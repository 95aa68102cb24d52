/* Bytes from a descriptor as they come: a pipe's are handed on at once. What is gzip's is unpacked.
 */
#ifndef TP_REPORT_DOCTOR_INPUT_H
#define TP_REPORT_DOCTOR_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tp_input;

/* fd: moved. Never NULL. */
struct tp_input *tp_input_create(int fd);
/* As read(2): 0 at the end. After -EINTR it may be called again, and nothing is lost. */
ssize_t tp_input_read(struct tp_input *in, void *out, size_t room);
/* Packed bytes broke off or are damaged: what was before them was handed out. */
bool tp_input_is_damaged(const struct tp_input *in);
/* NULL is fine. */
void tp_input_destroy(struct tp_input *in);

#endif
