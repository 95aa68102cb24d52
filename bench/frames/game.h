/* A game's loop, as bench-game-loop measures it: Vulkan, frames that cost the GPU so much. */
#ifndef TP_BENCH_GAME_H
#define TP_BENCH_GAME_H

#include <stdbool.h>
#include <stdint.h>

/* Where its pictures go. */
enum game_target {
    GAME_OFF_SCREEN, /* into images of its own, in the driver's best layout */
    GAME_HEADLESS,   /* VK_EXT_headless_surface */
    GAME_DISPLAY,    /* VK_KHR_display, the first screen */
};

struct game;

/* The loader's first device. at_once: IMMEDIATE, not MAILBOX. Ends the process with a message where
 * something is lacking. */
struct game *game_open(enum game_target target, uint32_t width, uint32_t height, bool at_once);
/* n frames, each with so many turns of the arithmetic, until the GPU is done with them. */
void game_run(struct game *g, uint32_t turns, uint32_t n);
void game_close(struct game *g);

#endif
