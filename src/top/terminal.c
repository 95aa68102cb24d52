#define NCURSES_WIDECHAR 1
#include "top/terminal.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "top/ui.h"

struct tp_terminal {
    SCREEN *screen;
    struct tp_canvas shown; /* what is on it now; no cells: nothing that is known */
    bool colours;
};

/* --- a fault of this program's own --- */

static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT};
#define FAULTS (sizeof faults / sizeof *faults)

/* What a handler may use. */
static struct {
    struct termios found;
    char bytes[256]; /* that take a terminal back */
    size_t n;
    struct sigaction before[FAULTS];
} rescue;

static void on_fault(int number)
{
    ssize_t unused = write(STDOUT_FILENO, rescue.bytes, rescue.n);
    (void)unused;
    tcsetattr(STDIN_FILENO, TCSANOW, &rescue.found);
    raise(number); /* the default again, and unblocked once this returns */
}

static int collect(int c)
{
    if (rescue.n < sizeof rescue.bytes)
        rescue.bytes[rescue.n++] = (char)c;
    return c;
}

static void prepare_rescue(void)
{
    static const char *const names[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
    struct sigaction act = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND};
    rescue.n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *s = tigetstr(names[i]);
        if (s && s != (char *)-1)
            tputs(s, 1, collect);
    }
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < FAULTS; i++)
        sigaction(faults[i], &act, &rescue.before[i]);
}

static void end_rescue(void)
{
    for (size_t i = 0; i < FAULTS; i++)
        sigaction(faults[i], &rescue.before[i], NULL);
}

/* --- open and close --- */

static bool can_place_a_cursor(void)
{
    int known;
    if (setupterm(NULL, STDOUT_FILENO, &known) != OK)
        return false;
    char *cup = tigetstr("cup");
    bool can = cup && cup != (char *)-1 && *cup;
    del_curterm(cur_term);
    return can;
}

/* Colours that every terminal with colours has, on its own background. */
static void choose_colours(void)
{
    static const short of[TP_INK_COLOURS] = {
        -1, COLOR_GREEN, COLOR_YELLOW, COLOR_RED, COLOR_CYAN, COLOR_BLUE, COLOR_MAGENTA};
    start_color();
    use_default_colors();
    for (short i = 1; i < TP_INK_COLOURS; i++)
        init_pair(i, of[i], -1);
}

int tp_terminal_open(bool colours, struct tp_terminal **out, struct tp_error *e)
{
    const char *name = getenv("TERM");
    *out = NULL;
    tcgetattr(STDIN_FILENO, &rescue.found);
    SCREEN *screen = can_place_a_cursor() ? newterm(NULL, stdout, stdin) : NULL;
    if (!screen)
        return tp_fail(e, TP_STATUS_MISSING, -ENOTSUP, NULL,
            "use `turnpike top --once` for a single picture, or --json -; or set TERM to the "
            "terminal "
            "that this is",
            "a terminal of the kind '%s' cannot place a cursor", name ? name : "");
    struct tp_terminal *t = tp_calloc(1, sizeof *t);
    t->screen = screen;
    set_term(screen);
    prepare_rescue();
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    t->colours = colours && has_colors();
    if (t->colours)
        choose_colours();
    *out = t;
    return 0;
}

void tp_terminal_close(struct tp_terminal *t)
{
    if (!t)
        return;
    endwin();
    end_rescue();
    delscreen(t->screen);
    tp_canvas_finish(&t->shown);
    free(t);
}

/* --- the picture --- */

void tp_terminal_size(const struct tp_terminal *t, unsigned *width, unsigned *height)
{
    (void)t;
    *width = COLS > 0 ? (unsigned)COLS : 1;
    *height = LINES > 0 ? (unsigned)LINES : 1;
}

static void put(const struct tp_terminal *t, unsigned x, unsigned y, const struct tp_cell *cell)
{
    wchar_t text[2] = {(wchar_t)cell->character, 0};
    attr_t attributes = (cell->ink & TP_INK_BOLD ? A_BOLD : 0) |
        (cell->ink & TP_INK_DIM ? A_DIM : 0) | (cell->ink & TP_INK_REVERSE ? A_REVERSE : 0);
    cchar_t c;
    if (setcchar(&c, text, attributes, t->colours ? (short)(cell->ink & TP_INK_COLOUR) : 0, NULL) ==
        OK)
        mvadd_wch((int)y, (int)x, &c);
}

static bool same(const struct tp_cell *a, const struct tp_cell *b)
{
    return a->character == b->character && a->ink == b->ink;
}

void tp_terminal_show(struct tp_terminal *t, const struct tp_canvas *c)
{
    bool all = !t->shown.cells || t->shown.width != c->width || t->shown.height != c->height;
    if (all) {
        tp_canvas_finish(&t->shown);
        tp_canvas_init(&t->shown, c->width, c->height, c->utf8);
        erase();
    }
    for (unsigned y = 0; y < c->height; y++)
        for (unsigned x = 0; x < c->width; x++) {
            size_t i = (size_t)y * c->width + x;
            /* The right half of a wide character comes with its left one. */
            if (c->cells[i].character && !same(&c->cells[i], &t->shown.cells[i]))
                put(t, x, y, &c->cells[i]);
        }
    memcpy(t->shown.cells, c->cells, (size_t)c->width * c->height * sizeof *c->cells);
    refresh();
}

/* --- keys --- */

static uint32_t key_of(wint_t c)
{
    switch (c) {
    case KEY_UP:
    case KEY_BTAB:
        return TP_KEY_UP;
    case KEY_DOWN:
        return TP_KEY_DOWN;
    case KEY_LEFT:
        return TP_KEY_LEFT;
    case KEY_RIGHT:
        return TP_KEY_RIGHT;
    case KEY_BACKSPACE:
        return TP_KEY_BACKSPACE;
    case KEY_ENTER:
        return TP_KEY_ENTER;
    default:
        return 0;
    }
}

static uint32_t character_of(wint_t c)
{
    switch (c) {
    case 8:
    case 127:
        return TP_KEY_BACKSPACE;
    case '\r':
    case '\n':
        return TP_KEY_ENTER;
    case 27:
        return TP_KEY_ESCAPE;
    default:
        return (uint32_t)c;
    }
}

bool tp_terminal_key(struct tp_terminal *t, uint32_t *key, bool *resized)
{
    wint_t c;
    int kind = get_wch(&c);
    if (kind == ERR)
        return false;
    *key = kind == KEY_CODE_YES ? key_of(c) : character_of(c);
    if (kind == KEY_CODE_YES && c == KEY_RESIZE) {
        tp_canvas_finish(&t->shown);
        *resized = true;
    }
    return true;
}
