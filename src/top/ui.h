/*
 * What a person does with top: which guest is looked at, what is typed, what was asked of the
 * server and what became of it. Pure: keys go in, what is to be done comes out.
 */
#ifndef TP_TOP_UI_H
#define TP_TOP_UI_H

#include "frames/wire/scanout.h"
#include "top/snapshot.h"

/* Besides characters. */
enum tp_top_key {
    TP_KEY_UP = 0x110000, /* beyond every character */
    TP_KEY_DOWN,
    TP_KEY_LEFT,
    TP_KEY_RIGHT,
    TP_KEY_BACKSPACE,
    TP_KEY_ENTER,
    TP_KEY_ESCAPE,
};

enum tp_top_link {
    TP_TOP_WAITING,
    TP_TOP_LIVE,
    TP_TOP_LOST
}; /* no server yet; there; gone again */

struct tp_top_ui {
    /* What is shown besides the snapshot; set by who runs it. */
    enum tp_top_link link;
    const char *socket; /* borrowed; any bytes */
    pid_t server;       /* 0: not known */
    bool once;          /* a single picture: there are no keys */

    unsigned screen; /* that is looked at: its place in the snapshot, where it is there */
    unsigned guest;  /* the same, by its number */
    bool has_guest;
    bool paused, help;
    char entry[8]; /* a number that is being typed */
    unsigned n_entry;

    char message[192]; /* about what was asked; "" */
    bool message_is_bad;
    int64_t message_ns;            /* since when */
    struct tp_setting_frame asked; /* the last change; setting 0: none that is waited for */
    int64_t asked_ns;
};

enum tp_top_action { TP_TOP_NOTHING, TP_TOP_DRAW, TP_TOP_SET, TP_TOP_QUIT };

/* key: a character, or an enum tp_top_key. With TP_TOP_SET: what is to be asked of the server. */
enum tp_top_action tp_top_key(struct tp_top_ui *ui, const struct tp_top_snapshot *s, uint32_t key,
    struct tp_setting_frame *set);
/* The server's answer to what was asked: 0 or a negative errno. */
void tp_top_answered(struct tp_top_ui *ui, int result, int64_t now_ns);
/* Time has passed: what was asked is so now, or a message is old. */
void tp_top_passed(struct tp_top_ui *ui, const struct tp_top_snapshot *s);

/* The screen that is looked at, or the first. NULL: there is none. */
const struct tp_top_screen *tp_top_chosen_screen(
    const struct tp_top_ui *ui, const struct tp_top_snapshot *s);
/* The guest that is looked at: the chosen one, else the first. NULL: there is none. */
const struct tp_top_guest *tp_top_chosen(
    const struct tp_top_ui *ui, const struct tp_top_snapshot *s);

#endif
