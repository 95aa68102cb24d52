# Fixture: properties kept by generation, scalar predicates among them; the X1-85 beside the A740.
from enum import Enum


class CHIP(Enum):
    A6XX = 6
    A7XX = 7


gpus = {}


def add_gpus(ids, info):
    for one in ids:
        gpus[one] = info


class GPUId(object):
    def __init__(self, gpu_id = None, chip_id = None, name = None):
        self.gpu_id = gpu_id
        self.chip_id = chip_id
        self.name = name


class A6XXProps(dict):
    def apply_gen_props(self, gen, info):
        for name, value in self.items():
            setattr(info, gen + "." + name, value)

    def apply_props(self, info):
        self.apply_gen_props("a6xx", info)


class A7XXProps(A6XXProps):
    def apply_props(self, info):
        self.apply_gen_props("a7xx", info)


class A6xxGPUInfo(object):
    def __init__(self, chip, template, **numbers):
        self.numbers = numbers
        for one in template if isinstance(template, list) else [template]:
            one.apply_props(self)

a6xx_base = A6XXProps(
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

a7xx_base = A6XXProps(
        has_gmem_fast_clear = True,
        has_scalar_predicates = True,
        has_early_preamble = True,
        # a comment at the end of a line
        line_width_max = 127.5,
    )

a7xx_gen1 = A7XXProps(
        supports_ibo_ubwc = True,
        enable_tp_ubwc_flag_hint = True,
    )

a7xx_gen2 = A7XXProps(
        supports_ibo_ubwc = True,
        enable_tp_ubwc_flag_hint = False,
    )

a7xx_gen3 = A7XXProps(
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
        [a7xx_base, a7xx_gen1, A7XXProps(cmdbuf_start_a725_quirk = True)],
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
        [a7xx_base, a7xx_gen2, A7XXProps(cmdbuf_start_a725_quirk = True)],
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

for one, info in gpus.items():
    print(one.name, vars(info))
