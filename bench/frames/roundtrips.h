/* Timing something many times. */
#ifndef TP_BENCH_ROUNDTRIPS_H
#define TP_BENCH_ROUNDTRIPS_H

/* Calls it n times (after n / 10 unmeasured ones) and prints name, median, 99th percentile and least, in
 * microseconds. What it answers is asserted to be 0. */
void bench(const char *name, int n, int (*it)(void *data), void *data);

/* The other end of a raw round trip: a child that sends back what it gets, on a SOCK_SEQPACKET pair.
 * Answers the socket; the child ends with it. */
int start_echo(void);
/* One raw round trip of 64 bytes; data: the socket. */
int raw_round_trip(void *data);

#endif
