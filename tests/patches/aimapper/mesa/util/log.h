/* Stand-in for Mesa's header. What is logged goes to standin_log, where it is set.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_LOG_H
#define STANDIN_LOG_H

extern void (*standin_log)(const char *line);

__attribute__((format(printf, 1, 2))) void standin_logf(const char *format, ...);

#define mesa_logi(...) standin_logf(__VA_ARGS__)
#define mesa_logw(...) standin_logf(__VA_ARGS__)
#define mesa_loge(...) standin_logf(__VA_ARGS__)

#endif
