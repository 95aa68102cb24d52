# Fixture: GPUs of three generations, in the shape of flat properties.
from freedreno_dev_info import *

a6xx_base = GPUProps(
        has_gmem_fast_clear = True,
        line_width_max = 1.0,
    )

add_gpus([
        GPUId(650),
    ], A6xxGPUInfo(
        CHIP.A6XX,
        [a6xx_base],
        num_ccu = 3,
    ))

a7xx_base = GPUProps(
        has_gmem_fast_clear = True,
        has_scalar_predicates = True,
        has_early_preamble = True,
        # a comment at the end of a line
        line_width_max = 127.5,
    )

a7xx_gen1 = GPUProps(
        supports_uav_ubwc = True,
        enable_tp_ubwc_flag_hint = True,
    )

a7xx_gen2 = GPUProps(
        supports_uav_ubwc = True,
        enable_tp_ubwc_flag_hint = False,
        has_image_processing = True,
    )

a7xx_gen3 = GPUProps(
        has_persistent_counter = True,
        has_64b_image_atomics = True,
    )

a730_raw_magic_regs = [
        [0x0e17, 0x00840004],
    ]

add_gpus([
        GPUId(chip_id=0x07030002, name="FD725"),
        GPUId(chip_id=0xffff07030002, name="FD725"),
    ], A6xxGPUInfo(
        CHIP.A7XX,
        [a7xx_base, a7xx_gen1, GPUProps(cmdbuf_start_a725_quirk = True)],
        num_ccu = 4,
        raw_magic_regs = a730_raw_magic_regs,
    ))

add_gpus([
        GPUId(chip_id=0x07030001, name="FD730"), # KGSL
        GPUId(chip_id=0xffff07030001, name="FD730"),
    ], A6xxGPUInfo(
        CHIP.A7XX,
        [a7xx_base, a7xx_gen1],
        num_ccu = 4,
        raw_magic_regs = a730_raw_magic_regs,
    ))

add_gpus([
        GPUId(740),
        GPUId(chip_id=0x43050a01, name="FD740"), # KGSL
        GPUId(chip_id=0xffff43050a01, name="FD740"),
        GPUId(chip_id=0xffff43050c01, name="Adreno X1-85"),
    ], A6xxGPUInfo(
        CHIP.A7XX,
        [a7xx_base, a7xx_gen2],
        num_ccu = 6,
    ))

add_gpus([
        GPUId(chip_id=0x43050a00, name="FDA32"),
        GPUId(chip_id=0xffff43050a00, name="FDA32"),
    ], A6xxGPUInfo(
        CHIP.A7XX,
        [a7xx_base, a7xx_gen2, GPUProps(cmdbuf_start_a725_quirk = True)],
        num_ccu = 6,
    ))

add_gpus([
        GPUId(chip_id=0x43051401, name="FD750"), # KGSL
        GPUId(chip_id=0xffff43051401, name="FD750"),
    ], A6xxGPUInfo(
        CHIP.A7XX,
        [a7xx_base, a7xx_gen3],
        num_ccu = 6,
    ))

a8xx_base = GPUProps(
        has_dual_wave_dispatch = True,
    )

a8xx_base_raw_magic_regs = [
        [0x8818, 0x00000000],
    ]

a8xx_gen1 = GPUProps(
        sysmem_ccu_depth_cache_fraction = CCUColorCacheFraction.FULL.value,
        sysmem_per_ccu_depth_cache_size = 256 * 1024,
    )

a8xx_gen2 = GPUProps(
        sysmem_ccu_depth_cache_fraction = CCUColorCacheFraction.THREE_QUARTER.value,
        sysmem_per_ccu_depth_cache_size = 192 * 1024,
    )

add_gpus([
       GPUId(chip_id=0xffff44010000, name="Adreno (TM) 810"),
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base, a8xx_gen1, GPUProps(
            # less than its sisters
            gmem_vpc_attr_buf_size = 16384,
        )],
        num_ccu = 1,
        num_slices = 1,
        raw_magic_regs = a8xx_base_raw_magic_regs,
    ))

add_gpus([
        GPUId(chip_id=0xffff44050000, name="Adreno (TM) 830"),
        GPUId(chip_id=0x44050001, name="Adreno (TM) 830"), # KGSL
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base, a8xx_gen1],
        num_ccu = 6,
        num_slices = 3,
        raw_magic_regs = a8xx_base_raw_magic_regs,
    ))

add_gpus([
        GPUId(chip_id=0x44030a20, name="Adreno (TM) 829"), # KGSL
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base, a8xx_gen2,
         GPUProps(
            sysmem_vpc_bv_pos_buf_size = 24576,
         )],
        num_ccu = 4,
        num_slices = 2,
        raw_magic_regs = a8xx_base_raw_magic_regs,
    ))

add_gpus([
        GPUId(chip_id=0xffff44050A31, name="Adreno (TM) 840"),
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base, a8xx_gen2,
         GPUProps(shading_rate_matches_vk = True)],
        num_ccu = 6,
        num_slices = 3,
        raw_magic_regs = a8xx_base_raw_magic_regs,
    ))

add_gpus([
        GPUId(chip_id=0xffff44070031, name="Adreno (TM) X2-85"),
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base, a8xx_gen2],
        num_ccu = 6,
        num_slices = 3,
        raw_magic_regs = a8xx_base_raw_magic_regs,
    ))

if __name__ == "__main__":
    main()
