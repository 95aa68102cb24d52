#include "frames/census/record.h"

const char *const tp_counter_names[TP_COUNTERS] = {"unsafe", "release_waits", "release_timeouts",
    "slot_waits", "notes.pending", "notes.final", "notes.lost", "notes.resynced"};
