/* What the vendor double can be. The first column is the number that a buffer carries (buffer.h),
 * the last the name for TURNPIKE_MAPPER. Kinds of buffers and kinds of libraries share the list. */
#ifndef DOUBLE_KINDS_H
#define DOUBLE_KINDS_H

/* clang-format off */
#define DOUBLE_KINDS(X) \
    /* Buffers. */ \
    X(DEFAULT, 0, "default")           /* what TURNPIKE_MAPPER says, else QTI_840 */ \
    X(QTI_840, 1, "qti-840")           /* as measured: two planes, COMPRESSION unsupported */ \
    X(QTI, 2, "qti")                   /* the same, and COMPRESSION says "QTI", 10 */ \
    X(QTI_EXACT, 3, "qti-exact")       /* QTI_840 with flags that are not rounded up */ \
    X(QTI_ONE_PLANE, 4, "qti-one-plane") /* COMPRESSION "QTI", 10; only the pixels' plane */ \
    X(QTI_NO_PLANES, 5, "qti-no-planes") /* COMPRESSION "QTI", 10; PLANE_LAYOUTS unsupported */ \
    X(QTI_SECOND_FD, 6, "qti-second-fd") /* flags at offset 0 of the handle's second fd */ \
    X(QTI_SWAPPED, 7, "qti-swapped")   /* the flags' plane listed first */ \
    X(QTI_MODIFIER, 8, "qti-modifier") /* no COMPRESSION; the modifier says UBWC */ \
    X(QTI_3_PLANES, 9, "qti-3-planes") /* QTI, and a plane more */ \
    X(LINEAR, 10, "linear")            /* COMPRESSION NONE, one plane */ \
    X(LINEAR_UNSAID, 11, "linear-unsaid") /* COMPRESSION unsupported, modifier LINEAR */ \
    X(LINEAR_CPU, 12, "linear-cpu")    /* the same, allocated with CPU usage */ \
    X(LINEAR_NO_MODIFIER, 13, "linear-no-modifier") /* COMPRESSION NONE and nothing else */ \
    X(NV12, 20, "nv12")                \
    X(P010, 21, "p010")                \
    X(YCBCR_3, 22, "ycbcr-3")          /* Y, Cb, Cr; fourcc 0 */ \
    X(YV12, 23, "yv12")                /* Y, Cr, Cb; fourcc YVU420 */ \
    X(NV12_UNSAID, 24, "nv12-unsaid")  /* fourcc 0: the components tell */ \
    X(NV12_UBWC, 25, "nv12-ubwc")      /* Y, CbCr, and flags for each; COMPRESSION "QTI", 10 */ \
    X(NV12_UBWC_2, 26, "nv12-ubwc-2")  /* the same, without the flags' planes */ \
    X(NV12_DISJOINT, 27, "nv12-disjoint") /* CbCr in the handle's second fd */ \
    X(NV12_UBWC_UNSAID, 28, "nv12-ubwc-unsaid") /* NV12_UBWC_2, fourcc 0 */ \
    X(NV12_UBWC_BARE, 29, "nv12-ubwc-bare") /* NV12_UBWC_2, no components */ \
    X(DSC, 30, "dsc")                  /* COMPRESSION says AOSP's DISPLAY_STREAM_COMPRESSION */ \
    X(FOREIGN, 31, "foreign")          /* COMPRESSION says 10, under another vendor's name */ \
    X(CONTRADICTION, 32, "contradiction") /* COMPRESSION NONE, a modifier that says UBWC */ \
    X(NEAR_MISS, 33, "near-miss")      /* QTI_840, the pixels 4096 bytes later */ \
    X(FOREIGN_NONE, 34, "foreign-none") /* the same, 0 */ \
    X(QTI_OTHER, 35, "qti-other")      /* QTI_840, and COMPRESSION says "QTI", 13 */ \
    X(NEAR_MISS_FLAGS, 36, "near-miss-flags") /* QTI_840, the flags 4096 bytes later */ \
    X(QTI_FOURCC, 37, "qti-fourcc")    /* QTI, and a fourcc: ABGR2101010 */ \
    X(NV12_UBWC_HIDDEN, 38, "nv12-ubwc-hidden") /* NV12_UBWC, COMPRESSION unsupported */ \
    X(QTI_LOSSY, 39, "qti-lossy")      /* QTI_840, and COMPRESSION says "QTI", 11: lossy */ \
    X(QTI_LOSSY_2, 65, "qti-lossy-2")  /* the same, 12; one plane */ \
    X(BAD_BUFFER, 66, "bad-buffer")    /* QTI_840, and every answer is BAD_BUFFER */ \
    X(BAD_LINEAR, 67, "bad-linear")    /* LINEAR, and every answer is BAD_BUFFER */ \
    X(OTHER_MODIFIER, 68, "other-modifier") /* LINEAR_UNSAID; a modifier, lossy UBWC's */ \
    X(SILENT, 40, "silent")            /* everything unsupported */ \
    X(NEGATIVE, 41, "negative")        /* errors that are none */ \
    X(EMPTY, 42, "empty")              /* answers of no bytes */ \
    X(SHORT_HEADER, 43, "short-header") /* cut in the type's name */ \
    X(SHORT_PAYLOAD, 44, "short-payload") /* cut in the middle of the payload */ \
    X(HUGE, 45, "huge")                /* answers of 2 GiB - 1, it says */ \
    X(GARBAGE, 46, "garbage")          /* bytes of a fixed sequence */ \
    X(GROWING, 47, "growing")          /* larger each time it is asked */ \
    X(CHANGING, 48, "changing")        /* QTI and LINEAR by turns */ \
    X(MUTE, 49, "mute")                /* claims QTI's sizes, writes nothing */ \
    X(WRONG_NAME, 50, "wrong-name")    /* another name in the header */ \
    X(WRONG_TYPE, 51, "wrong-type")    /* another type in the header */ \
    X(MANY_PLANES, 52, "many-planes")  \
    X(NEGATIVE_PLANES, 53, "negative-planes") \
    X(MANY_COMPONENTS, 54, "many-components") \
    X(NEGATIVE_COMPONENTS, 55, "negative-components") \
    X(OFFSET_64, 56, "offset-64")      /* LINEAR, 4 GiB into the buffer */ \
    X(OFFSET_64_QTI, 57, "offset-64-qti") /* QTI, its pixels 4 GiB behind */ \
    X(OFFSET_NEGATIVE, 58, "offset-negative") \
    X(STRIDE_ZERO, 59, "stride-zero")  \
    X(STRIDE_NEGATIVE, 60, "stride-negative") \
    X(STRIDE_64, 61, "stride-64")      \
    X(LONG, 62, "long")                /* QTI_840 with planes of over 1024 bytes of answer */ \
    X(LONG_NAME, 63, "long-name")      /* a name's length that runs over the end */ \
    X(OUTGROWING, 64, "outgrowing")    /* LONG, and twice as long when it is read */ \
    /* Libraries; buffers are then QTI_840. */ \
    X(LIB_MISSING, 100, "missing")     /* not to be loaded */ \
    X(LIB_VERSION_4, 101, "version-4") \
    X(LIB_VERSION_6, 102, "version-6") /* the symbols, which there are */ \
    X(LIB_TABLE_4, 103, "table-4")     /* symbol 5, an older table */ \
    X(LIB_TABLE_6, 104, "table-6")     /* symbol 5, a newer table, which begins as this one */ \
    X(LIB_ERROR, 105, "load-error")    /* AIMapper_loadIMapper says NO_RESOURCES */ \
    X(LIB_NULL, 106, "load-null")      /* says NONE and gives NULL */ \
    X(LIB_HOLE, 107, "hole")           /* no getStandardMetadata in the table */ \
    X(LIB_STABLEC_4, 108, "stablec-4") /* the one symbol, where there are two */ \
    X(LIB_MAPPER_4, 109, "mapper-4")   /* the other */ \
    X(LIB_STRANGER, 110, "stranger")   /* an instance that has imported no handle */
/* clang-format on */

enum double_kind {
#define X(id, number, name) DOUBLE_##id = (number),
    DOUBLE_KINDS(X)
#undef X
};

#endif
