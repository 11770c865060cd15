"""How many blocks of a kernel a multiprocessor holds at once, by the limits that NVIDIA publishes.

"Technical Specifications per Compute Capability" of the CUDA programming guide; the same as in cuda_occupancy.h.
"""
from collections import namedtuple

Limits = namedtuple("Limits", "warps blocks shared")
LIMITS = {  # of a multiprocessor: warps, blocks, bytes of shared memory
    "sm_86": Limits(48, 16, 100 << 10),
    "sm_87": Limits(48, 16, 164 << 10),  # Jetson Orin
    "sm_89": Limits(48, 24, 100 << 10),
    "sm_110": Limits(48, 24, 228 << 10),  # Jetson Thor
    "sm_120": Limits(48, 24, 100 << 10),
}
REGISTERS = 64 << 10
REGISTER_UNIT = 256  # registers are given to a warp in these pieces
SCHEDULERS = 4  # each with a quarter of the registers
SHARED_RESERVED = 1 << 10  # by the system, for each block
SHARED_UNIT = 128


def round_up(n, unit):
    return -(-n // unit) * unit


def blocks_per_multiprocessor(target, threads, registers, shared):
    limits = LIMITS[target]
    warps = -(-threads // 32)
    warps_by_registers = SCHEDULERS * (REGISTERS // SCHEDULERS // round_up(32 * max(registers, 1), REGISTER_UNIT))
    return min(limits.blocks, limits.warps // warps, warps_by_registers // warps,
               limits.shared // round_up(shared + SHARED_RESERVED, SHARED_UNIT))


def occupancy(target, threads, registers, shared):
    """Share of the warps that a multiprocessor could hold, in %."""
    warps = -(-threads // 32) * blocks_per_multiprocessor(target, threads, registers, shared)
    return round(100 * warps / LIMITS[target].warps)
