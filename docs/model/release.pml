/*
 * The release protocol: who may write a swapchain's image, and when. README.md says what is proved.
 * Each transition names the function of src/frames that it stands for.
 *
 * Settings, each a -D:
 *   N=2|3     images             D=0|1     refreshes from latch to first line
 *   BOARD=0   a peer with notes alone      GPU=1     fences are waited for by the GPU
 *   LOSS=1    notes or their fences get lost         DUP=1     notes come twice
 *   CRASH=n   the server ends n times at any moment  CAP=n     room for messages
 *   SILENT=1  the panel may say nothing for ever     ASK=1     states are asked for at the bound
 *   LEAD=1    the latch comes before the refresh
 *   ALONE=1   the ICD may give up on the server that went
 *   BUG_...   a planted mistake
 */
#ifndef N
#define N 2
#endif
#ifndef D
#define D 0
#endif
#ifndef BOARD
#define BOARD 1
#endif
#ifndef GPU
#define GPU 0
#endif
#ifndef LOSS
#define LOSS 0
#endif
#ifndef DUP
#define DUP 0
#endif
#ifndef CRASH
#define CRASH 0
#endif
#ifndef SILENT
#define SILENT 0
#endif
#ifndef ASK
#define ASK 0
#endif
#ifndef ALONE
#define ALONE 0
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef LEAD
#define LEAD (CRASH > 0)
#endif
/* Where the board has the truth, what a note said before matters only for one that comes again. */
#define LOW_KEPT (!BOARD || DUP)

/* A picture: an image's number, a blank, or nothing new. */
#define BLANK N
#define NONE (N + 1)

/* Of a word and of a use (wire/board.h, notes_internal.h). */
#define FREE 0
#define REPLACED 1
#define FENCED 2
#define SHOWN 3
#define GONE 4 /* the word has another generation */

#define IDLE 0 /* enum tp_slot_place; queued is held here */
#define ACQUIRED 1
#define HELD 2

#define UNKNOWN 0 /* enum tp_slot_registration */
#define ASKED 1
#define KNOWN 2

#define UP 0    /* connected to the server that runs */
#define STALE 1 /* to one that has ended; not noticed yet */
#define LOST 2  /* tp_slots_disconnected */
#define NOBODY 3 /* tp_slots_alone */

#define M_REG 0 /* messages */
#define M_PENDING 1
#define M_RESYNC 2 /* pending, with TP_SCANOUT_RESYNC */
#define M_FINAL 3
#define M_STATE 4

#define NO_FENCE 0
#define FENCE 1
#define FENCE_LOST 2

/* --- the panel: what is true --- */
byte next_ = NONE, latched = NONE, piped = NONE, reading = BLANK;
bit tick; /* this refresh has not had its picture */
#define on_panel(i) (reading == (i) || latched == (i) || piped == (i) || next_ == (i))
bit owed[N];   /* the panel has not said yet how it lets go of it */
bit given[N];  /* there is a fence of its last use */
bit signal[N]; /* which has signalled */
byte silent[N]; /* 1: it says nothing of its last use; 2: the fence never signals */
byte fds[N];   /* open descriptors of its fences, everywhere: a ghost */

/* --- the server: notes.c, notes_peer.c, releases.c, publisher.c --- */
bit up = 1;
byte use[N]; /* tp_notes_state_of */
bit registered[N] = 1;
bit dirty[N], follow[N];
bit wants[N]; /* its registration has been sent */
bit asked[N]; /* its state has been asked for */
bit no_room;
byte stage, picture = NONE;
byte blank; /* 1 asked for, 2 at the panel, 3 shown */
bit blank_latched, before_blank[N];
byte crashes;

/* --- the compositor --- */
chan queue = [N] of { byte };
byte showing = NONE, again = NONE;
bit back[N]; /* wl_buffer.release is on its way */

/* --- the socket: in order --- */
chan wire = [CAP] of { byte, byte, byte, byte, bit }; /* what, image, low, fence, of this use */

/* --- the ICD: slots.c, slots_choose.c --- */
byte conn = UP;
byte word[N]; /* the board, as it maps it */
byte place[N], quarantine[N], rank[N];
byte registration[N] = KNOWN;
bit presented[N], unheard[N];
bit doubt[N]; /* it came back, and the server was not seen to be there since */
byte low[N];
bit low_known[N] = 1;
bit low_current[N], spent[N], incomplete[N], fenced_known[N], open[N];
byte fence[N], old_fence[N];   /* in hand: of the last use; of one before */
byte orphan[N], old_orphan[N]; /* the same, of servers that are gone */
byte gpu_fence[N];             /* moved to the GPU */
bit asleep, woken, drained;

#define has_word(i) (BOARD && conn != LOST && registration[i] == KNOWN && word[i] != GONE)
/* tp_slot_panel */
#define panel(i)                                                                                   \
    ((conn == LOST || conn == NOBODY || registration[i] == UNKNOWN) -> FREE :                      \
    (has_word(i) -> word[i] :                                                                      \
    ((BOARD && registration[i] == KNOWN && presented[i]) -> REPLACED :                             \
    (unheard[i] -> REPLACED :                                                                      \
    ((!low_known[i] || spent[i]) -> FREE : low[i])))))
#define whole(i) (fenced_known[i] && !open[i] && !incomplete[i])
/* poll_fences. Of a fence that was given up nobody knows whether it signals. */
#define signalled(i) ((fence[i] == 0 || signal[i]) && (old_fence[i] == 0 || !SILENT))
/* What servers that are gone have left in hand: no other one's words make it void. */
#define orphans(i) (orphan[i] + old_orphan[i])
#define orphans_done(i) ((orphan[i] == 0 || signal[i]) && (old_orphan[i] == 0 || !SILENT))
#define mine(i) (place[i] == IDLE && quarantine[i] == 0)
#ifdef BUG_FREE_ON_RELEASE
#define ready(i) (place[i] == IDLE)
#else
#define ready(i)                                                                                   \
    (mine(i) && orphans_done(i) &&                                                                       \
        (panel(i) == FREE || (panel(i) == FENCED && whole(i) && (GPU || signalled(i)))))
#endif

/* No guest write overlaps a read, nor comes between latch and read. */
#define safe(i) assert(!on_panel(i))

inline count_fds(i)
{
    k = 0;
    sum = (use[i] == FENCED -> 1 : 0) + fence[i] + old_fence[i] + orphans(i) + gpu_fence[i];
    do
    :: k < len(wire) ->
        wire?w, x, l, f, c; wire!w, x, l, f, c;
        sum = sum + ((x == i && f == FENCE) -> 1 : 0);
        k++
    :: else -> break
    od;
    assert(sum == fds[i]);
    k = 0; sum = 0; w = 0; x = 0; l = 0; f = 0; c = 0
}

/* --- what the server does; each under its lock --- */

/* write_state */
inline write_word(i)
{
    if
    :: registered[i] ->
#ifdef BUG_FREE_WITH_FENCE
        word[i] = (use[i] == FENCED -> FREE : use[i])
#else
        word[i] = use[i]
#endif
    :: else
    fi
}

inline put(what, i, state, fd)
{
    wire!what, i, state, fd, 1;
    if
    :: fd == FENCE -> fds[i]++
    :: else
    fi
}

/* low_of */
#define low_of(i) ((use[i] == FENCED && follow[i]) -> REPLACED : use[i])

/* send_note, send_fence and what becomes of it on the way */
inline send_note(what, i, fd)
{
    if
    :: len(wire) == CAP -> no_room = 1; dirty[i] = 1
    :: len(wire) < CAP ->
        if
        :: put(what, i, low_of(i), fd)
#if LOSS
        :: true /* it gets lost */
        :: fd == FENCE -> follow[i] = 1; put(what, i, low_of(i), FENCE_LOST)
#endif
#if DUP
        :: len(wire) + 2 <= CAP -> put(what, i, low_of(i), fd); put(what, i, low_of(i), fd)
#endif
        fi;
        if
        :: what == M_FINAL && use[i] == FREE -> follow[i] = 0
        :: else
        fi
    fi
}

/* tp_notes_say */
inline say(what, i, fd)
{
    if
    :: !registered[i]
    :: registered[i] && (no_room || dirty[i]) -> dirty[i] = 1
    :: registered[i] && !no_room && !dirty[i] -> send_note(what, i, fd)
    fi
}

/* send_owed: send_state, send_standing */
inline send_owed(i)
{
    if
    :: asked[i] && !no_room && len(wire) == CAP -> no_room = 1
    :: asked[i] && !no_room && len(wire) < CAP ->
        put(M_STATE, i, low_of(i), (use[i] == FENCED -> FENCE : NO_FENCE)); asked[i] = 0
    :: else
    fi;
    if
    :: dirty[i] && !no_room ->
        dirty[i] = 0;
        if
        :: use[i] == FENCED -> send_note(M_FINAL, i, FENCE)
        :: use[i] == REPLACED -> send_note(M_RESYNC, i, NO_FENCE)
        :: use[i] == FREE -> send_note(M_FINAL, i, NO_FENCE)
        :: use[i] == SHOWN
        fi
    :: else
    fi
}

/* end_use, tp_notes_settle */
inline end_use(i)
{
    owed[i] = 0;
    if
    :: use[i] == SHOWN -> use[i] = REPLACED; write_word(i); say(M_PENDING, i, NO_FENCE)
    :: else
    fi;
    if
    :: use[i] == FENCED ->
#ifndef BUG_FENCE_LEAKED
        fds[i]--;
#endif
        use[i] = FREE; write_word(i)
    :: else -> use[i] = FREE; write_word(i); say(M_FINAL, i, NO_FENCE)
    fi;
    if
    :: follow[i] && registered[i] -> dirty[i] = 1; send_owed(i)
    :: else
    fi
}

/* The sequence of this image goes on: what was said so far is of an older use. */
inline new_use(i)
{
    count_fds(i);
    /* A use that the server still waits for, though the panel is through with it, is over here. */
    assert(use[i] == FREE || !on_panel(i));
    fds[i] = fds[i] - (use[i] == FENCED -> 1 : 0); use[i] = FREE;
    k = 0;
    do
    :: k < len(wire) -> wire?w, x, l, f, c; wire!w, x, l, f, (x == i -> 0 : c); k++
    :: else -> break
    od;
    k = 0; w = 0; x = 0; l = 0; f = 0; c = 0;
    low_current[i] = 0;
    old_fence[i] = old_fence[i] + fence[i]; fence[i] = 0;
    old_orphan[i] = old_orphan[i] + orphan[i]; orphan[i] = 0;
    if
    :: BOARD -> fenced_known[i] = 0
    :: else
    fi;
    owed[i] = 0; given[i] = 0; signal[i] = 0; silent[i] = 0; before_blank[i] = 0
}

/* tp_notes_before_apply */
inline before_apply()
{
    if
    :: picture < N -> d_step { new_use(picture); use[picture] = SHOWN; write_word(picture) }
    :: else
    fi;
    j = 0;
    do
    :: j < N ->
        if
        :: j != picture && use[j] == SHOWN ->
            use[j] = REPLACED; write_word(j); say(M_PENDING, j, NO_FENCE)
        :: else
        fi;
        j++
    :: else -> break
    od;
    j = 0
}

/* ops->publish: what has not been latched is dropped */
inline apply()
{
    next_ = picture;
    if
    :: picture < N ->
        owed[picture] = 1;
#if SILENT
        if
        :: silent[picture] = 0
        :: silent[picture] = 1
        :: silent[picture] = 2
        fi
#endif
    :: else -> blank = 2; blank_latched = 0
    fi
}

/* tell_flip, and the compositor gives back what it showed before */
inline flip()
{
    if
    :: picture < N ->
        if
        :: showing < N && showing != picture -> back[showing] = 1
        :: else
        fi;
        showing = picture
    :: else
    fi
}

/* A second is longer than any way to the panel, and than what is not silent. */
#define overdue(i)                                                                                 \
    (registered[i] && silent[i] > 0 && (use[i] == REPLACED || use[i] == FENCED) && !on_panel(i))

#define FINISH picture = NONE; stage = 0

active proctype server()
{
    byte j, k, x, w, l, f, sum;
    bit c;

    do
    /* publish: at most one picture a refresh */
    :: atomic { up && stage == 0 && tick && blank != 1 && (again < N || nempty(queue)) ->
        tick = 0;
        if
        :: again < N -> picture = again; again = NONE
        :: else -> queue?picture
        fi;
        stage = 1;
#ifndef BUG_NOTES_AFTER_FLIP
        before_apply()
#endif
      }
    /* Flip and apply are one: to end in between is to end before. */
#ifdef BUG_NOTES_AFTER_FLIP
    :: atomic { up && stage == 1 -> apply(); flip(); stage = 2 }
    :: atomic { up && stage == 2 -> before_apply(); FINISH }
#else
    :: atomic { up && stage == 1 -> apply(); flip(); FINISH }
#endif
    /* tp_notes_register: take, answer, send_owed */
    :: atomic { up && !no_room && (wants[0] || wants[1]
#if N > 2
            || wants[2]
#endif
        ) && len(wire) < CAP ->
        if
        :: wants[0] -> x = 0
        :: !wants[0] && wants[1] -> x = 1
#if N > 2
        :: !wants[0] && !wants[1] -> x = 2
#endif
        fi;
        wants[x] = 0; registered[x] = 1; follow[x] = 0;
        write_word(x);
#ifdef BUG_ANSWERS_FREE
        put(M_REG, x, FREE, NO_FENCE); word[x] = FREE;
#else
        put(M_REG, x, low_of(x), NO_FENCE);
        if
        :: use[x] != FREE -> dirty[x] = 1; send_owed(x)
        :: else
        fi;
#endif
        x = 0
      }
#if ASK
    /* tp_notes_ask */
    :: atomic { up && !no_room && asked[0] -> send_owed(0) }
    :: atomic { up && !no_room && asked[1] -> send_owed(1) }
#if N > 2
    :: atomic { up && !no_room && asked[2] -> send_owed(2) }
#endif
#endif
    /* tp_notes_drained */
    :: atomic { up && no_room && len(wire) < CAP ->
        no_room = 0; j = 0;
        do
        :: j < N ->
            if
            :: dirty[j] || asked[j] -> send_owed(j)
            :: else
            fi;
            j++
        :: else -> break
        od;
        j = 0
      }
#if SILENT
    /* tp_notes_expire */
    :: d_step { up && stage == 0 && blank == 0 && (overdue(0) || overdue(1)
#if N > 2
        || overdue(2)
#endif
        ) -> blank = 1 }
    /* publish_blank */
    :: atomic { up && stage == 0 && blank == 1 ->
        j = 0;
        do
        :: j < N -> before_blank[j] = (use[j] != FREE); j++
        :: else -> break
        od;
        tick = 0; picture = BLANK; stage = 1; before_apply()
      }
    /* tp_notes_blanked */
    :: atomic { up &&
#ifdef BUG_FORCED_UNSHOWN
        blank >= 2 && stage == 0
#else
        blank == 3
#endif
        -> j = 0;
        do
        :: j < N ->
            if
            :: before_blank[j] && (use[j] == REPLACED || use[j] == FENCED) ->
                follow[j] = follow[j] | (use[j] == FENCED);
                end_use(j)
            :: else
            fi;
            before_blank[j] = 0;
            j++
        :: else -> break
        od;
        j = 0; blank = 0; blank_latched = 0
      }
#endif
    od
}

/* --- what the panel says; on its own thread, with the server's lock --- */

#ifdef BUG_RELEASED_AT_PUBLISH
#define may_let_go(i) (use[i] == REPLACED && stage != 1)
#else
#define may_let_go(i) (!on_panel(i))
#endif

/* tp_notes_released, tp_notes_signalled; the kernel's fence */
#define TELL(i)                                                                                    \
    :: atomic { up && owed[i] && silent[i] == 0 && may_let_go(i) -> end_use(i) }                   \
    :: atomic { up && owed[i] && silent[i] != 1 && use[i] == REPLACED &&                           \
        (stage != 1 || !on_panel(i)) ->                                                            \
        owed[i] = 0; given[i] = 1; fds[i]++;                                                       \
        use[i] = FENCED; write_word(i); say(M_FINAL, i, FENCE) }                                   \
    :: atomic { given[i] && !signal[i] && silent[i] != 2 && !on_panel(i) -> signal[i] = 1 }        \
    :: atomic { up && use[i] == FENCED && signal[i] -> end_use(i) }

active proctype tell()
{
    do
    TELL(0)
    TELL(1)
#if N > 2
    TELL(2)
#endif
    od
}

/* --- the panel's beam --- */

#define ABIDE(i)                                                                                   \
    if                                                                                             \
    :: quarantine[i] > 0 -> quarantine[i]--                                                        \
    :: else                                                                                        \
    fi;                                                                                            \
    assert(!(reading == i && place[i] == ACQUIRED && gpu_fence[i] == 0))

active proctype beam()
{
    do
    :: d_step { true ->
        latched = next_; next_ = NONE;
        if
        :: latched != NONE && blank == 2 -> blank_latched = 1
        :: else
        fi
#if LEAD
      };
      d_step { true
#endif
        ;
#if D > 0
        if
        :: piped != NONE -> reading = piped
        :: else
        fi;
        piped = latched;
#else
        if
        :: latched != NONE -> reading = latched
        :: else
        fi;
        if
        :: blank_latched && blank == 2 -> blank = 3
        :: else
        fi;
#endif
        latched = NONE; tick = 1;
        ABIDE(0);
        ABIDE(1)
#if N > 2
        ;
        ABIDE(2)
#endif
      }
    od
}

/* --- the server's end, and its next beginning --- */

#if CRASH > 0
active proctype end()
{
    byte j;
    bit orderly;

    do
    :: atomic { up && crashes < CRASH ->
        crashes++;
        if
        :: orderly = 1 /* tp_notes_destroy: forget takes the words back */
        :: orderly = 0
        fi;
        if
        :: stage > 0 && picture < N -> again = picture
        :: stage == 0 && showing < N && again == NONE -> again = showing
        :: true
        fi;
        if
        :: stage > 0 && picture < N && again != picture -> again = picture
        :: else
        fi;
        d_step {
            up = 0; stage = 0; picture = NONE; no_room = 0; blank = 0; blank_latched = 0;
            j = 0;
            do
            :: j < N ->
                fds[j] = fds[j] - (use[j] == FENCED -> 1 : 0);
                use[j] = FREE; owed[j] = 0; dirty[j] = 0; follow[j] = 0; asked[j] = 0;
                wants[j] = 0; registered[j] = 0; before_blank[j] = 0;
                if
                :: orderly && conn == UP -> word[j] = GONE
                :: else
                fi;
                j++
            :: else -> break
            od;
            j = 0; orderly = 0;
            next_ = BLANK; /* its layers go with it */
            if
            :: conn == UP -> conn = STALE
            :: else
            fi
        }
      }
    :: atomic { !up -> up = 1 }
    od
}
#endif

/* --- the ICD's reading threads: events.c, release.c --- */

/* tp_slots_released */
#define RELEASED(i)                                                                                \
    :: d_step { back[i] ->                                                                         \
        back[i] = 0; place[i] = IDLE; woken = asleep; DIRTY                                             \
        if                                                                                         \
        :: conn == LOST -> quarantine[i] = LOST_QUARANTINE(i)                                      \
        :: else -> doubt[i] = (CRASH > 0)                                                          \
        fi }
#ifdef BUG_DRAINED_ONCE
#define DIRTY
#else
#define DIRTY drained = BOARD; /* whose words need no reading of the socket */
#endif
#ifdef BUG_BOARD_UNLOOKED
#define doubtful 0
#elif N > 2
#define doubtful (doubt[0] || doubt[1] || doubt[2])
#else
#define doubtful (doubt[0] || doubt[1])
#endif
#ifdef BUG_BACK_WITHOUT_QUARANTINE
#define LOST_QUARANTINE(i) quarantine[i]
#else
#define LOST_QUARANTINE(i) (D + 2)
#endif
#ifdef BUG_NO_QUARANTINE
#define QUARANTINE 0
#elif defined(BUG_SHORT_QUARANTINE)
#define QUARANTINE (D + 1)
#else
#define QUARANTINE (D + 2)
#endif

/* quarantine: what may be on the panel by the doing of a server of which nothing was heard */
inline quarantine_unheard()
{
    j = 0;
    do
    :: j < N ->
        if
#ifdef BUG_DOUBT_FORGOTTEN
        :: place[j] == HELD -> quarantine[j] = QUARANTINE
#else
        :: place[j] == HELD || doubt[j] -> quarantine[j] = QUARANTINE
#endif
        :: else
        fi;
        doubt[j] = 0; j++
    :: else -> break
    od;
    j = 0
}

active proctype ears()
{
    byte j, w, x, l, f;
    bit c, news;

    do
    RELEASED(0)
    RELEASED(1)
#if N > 2
    RELEASED(2)
#endif
    /* take_frame, dispatch: tp_slots_registered, tp_slots_note, tp_slots_state */
    :: d_step { nempty(wire) ->
        wire?w, x, l, f, c;
        news = !(low_known[x] && spent[x] && low[x] == l && low_current[x] == c);
        if
        :: w == M_REG -> registration[x] = KNOWN
        :: w == M_PENDING -> open[x] = open[x] | news
        :: w == M_FINAL ->
            open[x] = 0;
            incomplete[x] = incomplete[x] | (f == FENCE_LOST && news)
        :: w == M_STATE && l == FENCED -> incomplete[x] = 0; open[x] = 0
        :: else
        fi;
        if
        :: f == FENCE && c -> fence[x]++
        :: f == FENCE && !c -> old_fence[x]++
        :: else
        fi;
        unheard[x] = 0; /* hear */
        if
        :: news ->
            if
            :: LOW_KEPT -> low[x] = l; low_current[x] = c; low_known[x] = 1; spent[x] = 0
            :: else
            fi;
            if
            :: l == FREE /* voids what is in hand */ ->
                fds[x] = fds[x] - fence[x] - old_fence[x]; fence[x] = 0; old_fence[x] = 0;
                incomplete[x] = 0; fenced_known[x] = 0; open[x] = 0
#ifdef BUG_REGISTERED_IS_WHOLE
            :: w == M_REG && l == FENCED -> fenced_known[x] = 1
#else
            :: w == M_REG && l == FENCED -> fenced_known[x] = 0 /* its fences come in notes */
#endif
            :: l == FENCED && w != M_REG && (c || !BOARD) -> fenced_known[x] = 1
            :: else
            fi
        :: else
        fi;
        woken = asleep;
        w = 0; x = 0; l = 0; f = 0; c = 0; news = 0
      }
#if CRASH > 0
    /* lose, tp_slots_disconnected, leave_server: what is in the socket may be lost; with notes alone it is read */
    :: d_step { conn == STALE && (BOARD || empty(wire)) ->
        do
        :: len(wire) > 0 ->
            wire?w, x, l, f, c;
            fds[x] = fds[x] - (f == FENCE -> 1 : 0)
        :: else -> break
        od;
        j = 0;
        do
        :: j < N ->
            if
            :: place[j] == IDLE && panel(j) != FREE -> quarantine[j] = QUARANTINE
            :: else
            fi;
            /* keep_fences */
            orphan[j] = orphan[j] + fence[j]; fence[j] = 0;
            old_orphan[j] = old_orphan[j] + old_fence[j]; old_fence[j] = 0;
            low[j] = 0; low_known[j] = 0; low_current[j] = 0; spent[j] = 0; incomplete[j] = 0;
            fenced_known[j] = 0; open[j] = 0; unheard[j] = 0; word[j] = GONE;
            j++
        :: else -> break
        od;
        j = 0;
        do
        :: j < N -> registration[j] = UNKNOWN; j++
        :: else -> break
        od;
        quarantine_unheard();
        conn = LOST; woken = asleep;
        j = 0; w = 0; x = 0; l = 0; f = 0; c = 0
      }
    /* greet, connected, tp_slots_register */
    :: d_step { conn == LOST && up ->
#ifndef BUG_MET_ALL
        quarantine_unheard();
#endif
        conn = UP; j = 0;
        do
        :: j < N ->
            registration[j] = ASKED; wants[j] = 1;
            presented[j] = (place[j] != ACQUIRED);
#ifndef BUG_ASKED_IS_FREE
            unheard[j] = presented[j];
#endif
            j++
        :: else -> break
        od;
        j = 0; woken = asleep
      }
#endif
#if ALONE
    :: atomic { conn == LOST && !up -> conn = NOBODY; woken = asleep }
    /* try_connect, expect */
    :: d_step { conn == NOBODY && up -> quarantine_unheard(); conn = LOST; woken = asleep }
#endif
    od
}

/* --- the guest --- */

/* tp_slots_take */
#define TAKE(i)                                                                                    \
    :: ready(i) ->                                                                                 \
        d_step {                                                                                   \
            got = i;                                                                               \
            if                                                                                     \
            :: GPU && panel(i) == FENCED && fence[i] > 0 && !signal[i] -> gpu_fence[i] = fence[i]  \
            :: else -> fds[i] = fds[i] - fence[i] CLOSE_AGAIN(i)                                   \
            fi;                                                                                    \
            fds[i] = fds[i] - old_fence[i] CLOSE_ORPHANS(i);                                       \
            fence[i] = 0; old_fence[i] = 0; orphan[i] = 0; old_orphan[i] = 0;                      \
            place[i] = ACQUIRED; quarantine[i] = 0;                                                \
            doubt[i] = 0;                                                                          \
            spent[i] = LOW_KEPT; incomplete[i] = 0; open[i] = 0;                                          \
            count_fds(i)                                                                           \
        };                                                                                         \
        if                                                                                         \
        :: gpu_fence[i] == 0 -> safe(i)                                                            \
        :: else                                                                                    \
        fi
#ifdef BUG_CLOSED_TWICE
#define CLOSE_AGAIN(i) -fence[i]
#else
#define CLOSE_AGAIN(i)
#endif
#ifdef BUG_ORPHAN_LEAKED
#define CLOSE_ORPHANS(i)
#else
#define CLOSE_ORPHANS(i) -orphans(i)
#endif

/* Whoever is predicted first: the oldest. wait_for_panel */
#define WAITS(i)                                                                                   \
    if                                                                                             \
    :: mine(i) && panel(i) != FREE && (first == NONE || rank[i] < rank[first]) -> first = i        \
    :: else                                                                                        \
    fi;                                                                                            \
    if                                                                                             \
    :: mine(i) && ((panel(i) == FENCED && whole(i) && fence[i] > 0 && !signal[i]) ||               \
                   (panel(i) == FREE && !orphans_done(i))) &&                                      \
       (on_fence == NONE || rank[i] < rank[on_fence]) -> on_fence = i                              \
    :: else                                                                                        \
    fi;                                                                                            \
    if                                                                                             \
    :: place[i] == IDLE && quarantine[i] > 0 -> on_clock = i                                       \
    :: else                                                                                        \
    fi

#define REST 9 /* no word to sleep on */

active proctype guest()
{
    byte got = NONE, first = NONE, on_fence = NONE, on_clock = NONE, seen = REST;
    byte j, k, w, x, l, f, sum;
    bit c;

acquire:
    drained = BOARD;
choose:
    if
    :: drained && !doubtful
    /* tp_scanout_drain: to the end, which may be that of the connection */
    :: atomic { !drained && empty(wire) && conn != STALE -> drained = 1 }
#if CRASH > 0
    /* tp_scanout_look, tp_slots_assured; else drain: ears */
    :: atomic { doubtful && (conn == UP
#ifdef BUG_ALONE_UNLOOKED
        || conn == NOBODY
#elif ALONE
        || (conn == NOBODY && !up)
#endif
        ) -> doubt[0] = 0; doubt[1] = 0
#if N > 2
        ; doubt[2] = 0
#endif
      }
#endif
    fi;
    /* tp_slots_choose: any of those that are ready */
    atomic {
        asleep = 0; woken = 0; first = NONE; on_fence = NONE; on_clock = NONE; seen = REST;
        if
        :: !drained || doubtful -> goto choose
        :: else
        fi;
        if
        TAKE(0);
            goto taken
        TAKE(1);
            goto taken
#if N > 2
        TAKE(2);
            goto taken
#endif
        :: else ->
            d_step {
                asleep = 1;
                WAITS(0);
                WAITS(1);
#if N > 2
                WAITS(2);
#endif
                if
                :: first != NONE && has_word(first) -> seen = word[first]
                :: else
                fi
            }
        fi
    };
    /* tp_waker_sleep */
    if
#ifndef BUG_NO_WAKE_UP
    :: atomic { woken -> goto choose }
#endif
    :: atomic { seen != REST && word[first] != seen -> goto choose }
    :: atomic { on_fence != NONE && signal[on_fence] -> goto choose }
    :: atomic { on_clock != NONE && quarantine[on_clock] == 0 -> goto choose }
#if CRASH > 0 && SILENT
    /* orphans_ns: past a second those of a server that is gone are given up */
    :: atomic { on_fence != NONE && orphans(on_fence) > 0 && !orphans_done(on_fence) &&
        !on_panel(on_fence) && (old_orphan[on_fence] > 0 || silent[on_fence] > 0) ->
        fds[on_fence] = fds[on_fence] - orphans(on_fence);
        orphan[on_fence] = 0; old_orphan[on_fence] = 0; goto choose }
#endif
#if ASK
    /* incident: past the bound the server is asked */
    :: atomic { first != NONE && conn == UP && registration[first] == KNOWN && !asked[first] &&
        fence[first] + old_fence[first] < 2 && empty(wire) -> asked[first] = 1; goto choose }
#endif
    fi;
taken:
progress:
    /* It is written; before that, the GPU waits for its fence. */
    atomic { gpu_fence[got] == 0 || signal[got] ->
        safe(got);
        fds[got] = fds[got] - gpu_fence[got]; gpu_fence[got] = 0
    };
    /* tp_slots_presented, tp_slots_committed */
    d_step {
        place[got] = HELD; presented[got] = 1; unheard[got] = (registration[got] == ASKED);
        j = 0;
        do
        :: j < N ->
            if
            :: j != got && rank[j] > rank[got] -> rank[j]--
            :: else
            fi;
            j++
        :: else -> break
        od;
        rank[got] = N - 1;
        j = 0;
        queue!got;
        got = NONE
    };
    goto acquire
}
