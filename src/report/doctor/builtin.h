/* data/doctor.rules, built in: its lines, with their ends. */
#ifndef TP_REPORT_DOCTOR_BUILTIN_H
#define TP_REPORT_DOCTOR_BUILTIN_H

extern const char *const tp_doctor_builtin[]; /* NULL at the end */

#endif
