/* What commands say of a proof. */
#ifndef TP_CLI_PROOF_H
#define TP_CLI_PROOF_H

#include <jansson.h>

#include "base/buf.h"

/* The whole report, for a person. */
void tp_cli_proof_text(const json_t *report, struct tp_buf *out);

/* Two lines at most where everything holds: how many chips; each thing that fails in a line. */
void tp_cli_proof_summary(const json_t *report, char variant, struct tp_buf *out);

#endif
