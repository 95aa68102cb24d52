/* Numbers in the values of options. */
#ifndef TP_CLI_PARSE_H
#define TP_CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* Each: false where there is none at *at, or it is out of bounds; else *at is behind it. */

/* A whole number from 0 to max. */
bool tp_parse_number(const char **at, unsigned long max, unsigned long *out);
/* A number with up to three places that count, "59.94" as 59940. */
bool tp_parse_thousandths(const char **at, unsigned long max, uint64_t *out);
/* From 1 to 1000 Hz, in millihertz. */
bool tp_parse_hz(const char **at, uint32_t *mhz);
/* WIDTHxHEIGHT, each from 1 to 16384 pixels. */
bool tp_parse_size(const char **at, uint32_t *width_px, uint32_t *height_px);

#endif
