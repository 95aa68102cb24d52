# Fixture: the classes that the tables are made of.
from enum import Enum


class CHIP(Enum):
    A6XX = 6
    A7XX = 7
    A8XX = 8


class CCUColorCacheFraction(Enum):
    FULL = 0
    HALF = 1
    QUARTER = 2
    EIGHTH = 3
    THREE_QUARTER = 3


gpus = {}


def add_gpus(ids, info):
    for one in ids:
        gpus[one] = info


class GPUId:
    def __init__(self, gpu_id=None, chip_id=None, name=None):
        self.gpu_id = gpu_id
        self.chip_id = chip_id
        self.name = name


class GPUProps(dict):
    def apply_props(self, info):
        for name, value in self.items():
            setattr(info, name, value)


class A6xxGPUInfo:
    def __init__(self, chip, template, **numbers):
        self.chip = chip
        self.numbers = numbers
        for one in template if isinstance(template, list) else [template]:
            one.apply_props(self)


def main():
    for one, info in gpus.items():
        print(hex(one.chip_id or 0), one.name, vars(info))
