/*
 * Packet opcodes, events and registers that the simulated command processor knows.
 * Numbers: Mesa's adreno_pm4.xml and a6xx.xml.
 */
#ifndef TP_FACTORY_KGSL_PM4_H
#define TP_FACTORY_KGSL_PM4_H

enum {
    CP_NOP = 0x10,
    CP_WAIT_MEM_GTE = 0x14,    /* A6xx */
    CP_WAIT_TIMESTAMP = 0x14,  /* from A7xx on */
    CP_REG_RMW = 0x21,
    CP_DRAW_INDX = 0x22,
    CP_DRAW_AUTO = 0x24,
    CP_DRAW_INDIRECT = 0x28,
    CP_DRAW_INDX_INDIRECT = 0x29,
    CP_DRAW_INDIRECT_MULTI = 0x2a,
    CP_BLIT = 0x2c,
    CP_RUN_OPENCL = 0x31,
    CP_EXEC_CS = 0x33,
    CP_INDIRECT_BUFFER_PFD = 0x37,
    CP_DRAW_INDX_OFFSET = 0x38,
    CP_REG_TEST = 0x39,
    CP_WAIT_REG_MEM = 0x3c,
    CP_MEM_WRITE = 0x3d,
    CP_REG_TO_MEM = 0x3e,
    CP_INDIRECT_BUFFER = 0x3f,
    CP_EXEC_CS_INDIRECT = 0x41,
    CP_MEM_TO_REG = 0x42,
    CP_SET_DRAW_STATE = 0x43,
    CP_COND_EXEC = 0x44,
    CP_COND_WRITE5 = 0x45,
    CP_EVENT_WRITE = 0x46,
    CP_COND_REG_EXEC = 0x47,
    CP_MEM_TO_SCRATCH_MEM = 0x49,
    CP_REG_TO_SCRATCH = 0x4a,
    CP_SCRATCH_WRITE = 0x4c,
    CP_SCRATCH_TO_REG = 0x4d,
    CP_INDIRECT_BUFFER_CHAIN = 0x57,
    CP_CONTEXT_REG_BUNCH = 0x5c,
    CP_CONTEXT_REG_BUNCH2 = 0x5d,
    CP_SET_MARKER = 0x65,
    CP_REG_WRITE = 0x6d,
    CP_WAIT_TWO_REGS = 0x70,
    CP_REG_TO_MEM_OFFSET_REG = 0x72,
    CP_MEM_TO_MEM = 0x73,
    CP_REG_TO_MEM_OFFSET_MEM = 0x74,
    CP_MEMCPY = 0x75,
    CP_REG_WR_NO_CTXT = 0x78,
};

enum {
    EVENT_WRITE_PRIMITIVE_COUNTS = 9,
    EVENT_FLUSH_SO_0 = 17,
    EVENT_ZPASS_DONE = 21,
};

/* CP_SET_MARKER's render modes. */
enum {
    RM6_DIRECT_RENDER = 1,
    RM6_BIN_VISIBILITY = 2,
    RM6_BIN_RENDER_START = 4,
};

enum {
    REG_CP_SCRATCH = 0x883, /* 8 of them */
    REG_CP_ALWAYS_ON_COUNTER = 0x980,
    REG_VSC_STATE = 0xc38, /* 32 of them: a bit a tile, set where something is visible */
    REG_GRAS_BIN_CONTROL = 0x80a1,
    REG_RB_BIN_CONTROL = 0x8800,
    REG_RB_RENDER_CNTL = 0x8801,
    REG_RB_SAMPLE_COUNT_ADDR = 0x8927,
    REG_VPC_SO_STREAM_COUNTS = 0x9218,
    REG_VPC_SO = 0x921a, /* 4 of 7 registers: the offset at 4, the flush address at 5 */
    REG_SP_VS_CTRL_REG0 = 0xa800,
    REG_SP_HS_CTRL_REG0 = 0xa830,
    REG_SP_DS_CTRL_REG0 = 0xa840,
    REG_SP_GS_CTRL_REG0 = 0xa870,
    REG_SP_FS_CTRL_REG0 = 0xa980,
    REG_SP_CS_CTRL_REG0 = 0xa9b0,
    REG_TPL1_DBG_ECO_CNTL1 = 0xb602, /* bit 18: TP_UBWC_FLAG_HINT */
};

#endif
