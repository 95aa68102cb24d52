/* Stand-in for Mesa's header.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_U_ATOMIC_H
#define STANDIN_U_ATOMIC_H

#define p_atomic_xchg(v, i) __atomic_exchange_n((v), (i), __ATOMIC_ACQ_REL)

#endif
