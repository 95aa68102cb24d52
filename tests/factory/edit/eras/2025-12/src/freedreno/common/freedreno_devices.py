# Fixture: flat properties, and the first A8xx tables, of the second generation only.
from enum import Enum


class CHIP(Enum):
    A6XX = 6
    A7XX = 7
    A8XX = 8


class CCUColorCacheFraction(Enum):
    FULL = 0
    THREE_QUARTER = 3


gpus = {}


def add_gpus(ids, info):
    for one in ids:
        gpus[one] = info


class GPUId(object):
    def __init__(self, gpu_id = None, chip_id = None, name = None):
        self.gpu_id = gpu_id
        self.chip_id = chip_id
        self.name = name


class GPUProps(dict):
    def apply_props(self, info):
        for name, value in self.items():
            setattr(info, name, value)


class A6xxGPUInfo(object):
    def __init__(self, chip, template, **numbers):
        self.numbers = numbers
        for one in template if isinstance(template, list) else [template]:
            one.apply_props(self)

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
    )

a7xx_gen3 = GPUProps(
        has_persistent_counter = True,
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

a8xx_gen2 = GPUProps(
        sysmem_ccu_depth_cache_fraction = CCUColorCacheFraction.THREE_QUARTER.value,
    )

add_gpus([
        GPUId(chip_id=0xffff44050000, name="FD830"),
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base],
        num_ccu = 6,
    ))

add_gpus([
        GPUId(chip_id=0xffff44070041, name="Adreno X2-85"),
    ], A6xxGPUInfo(
        CHIP.A8XX,
        [a7xx_base, a7xx_gen3, a8xx_base, a8xx_gen2],
        num_ccu = 8,
    ))

for one, info in gpus.items():
    print(one.name, vars(info))
