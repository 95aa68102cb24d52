/* A capture (docs/capture.md) in a log's place: what its run's numbers come to, in the same shape.
 */
#ifndef TP_REPORT_DOCTOR_RECORDING_H
#define TP_REPORT_DOCTOR_RECORDING_H

#include "report/capture_read.h"
#include "report/doctor/doctor.h"

/* What report says of the guest that showed most (report/advice.h), as findings of the stage
 * `frames` that have no line. found: how much of it could be read; left as it is after an error.
 * Errors: those of tp_capture_read. The caller calls tp_diagnosis_finish, also after an error. */
int tp_doctor_recording(
    const char *path, struct tp_diagnosis *out, struct tp_capture_found *found, struct tp_error *e);

#endif
