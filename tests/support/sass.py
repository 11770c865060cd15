"""Listings of compiled kernels (cuobjdump) as Python: functions, instructions, what kind each one is.

Kinds follow the units that execute them, because each unit has a rate of its own:

    tensor            matrix products                     HMMA, IMMA
    float             FP32 on the multiply-add units      FADD, FMUL, FFMA
    multiply          whole numbers on the same units     IMAD, IDP (four bytes at once)
    integer           logic, shifts, sums, comparisons    everything that is not listed
    convert           slow conversions and functions      MUFU, FRND, F2I, I2F
    double            FP64
    load_*, store_*   global, shared, local (a spill), constant
    barrier, warp     of a block; shuffles and votes
    control, uniform  jumps and their book-keeping; what a warp computes once
"""
import re
from collections import namedtuple

Instruction = namedtuple("Instruction", "address guard opcode operands")

KINDS = {
    "tensor": "HMMA IMMA BMMA QMMA OMMA DMMA",
    "float": "FADD FMUL FFMA FADD2 FMUL2 FFMA2 FADD32I FMUL32I FFMA32I HFMA2 HADD2 HMUL2",
    "multiply": "IMAD IMUL IDP IDP4A",
    "convert": "MUFU FRND F2I I2F F2F I2I POPC FLO BREV",
    "double": "DADD DMUL DFMA DSETP DMNMX",
    "load_global": "LDG LD LDGSTS ATOMG RED",
    "store_global": "STG ST",
    "load_shared": "LDS LDSM ATOMS",
    "store_shared": "STS STSM",
    "load_local": "LDL",
    "store_local": "STL",
    "load_constant": "LDC LDCU ULDC",
    "barrier": "BAR",
    "warp": "SHFL VOTE VOTEU REDUX MATCH WARPSYNC",
    "control": "BRA BRX JMP EXIT CALL RET BSSY BSYNC BREAK BMOV NOP BPT WARPSYNC YIELD DEPBAR ERRBAR NANOSLEEP KILL",
}
KIND_OF = {opcode: kind for kind, opcodes in KINDS.items() for opcode in opcodes.split()}
MEMORY = ("load_global", "store_global", "load_shared", "store_shared")

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?PT?\d*)\s+)?([A-Z][A-Z0-9_.]*)([^;]*);")
USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")


def kind(instruction):
    head = instruction.opcode.split(".")[0]
    if head in KIND_OF:
        return KIND_OF[head]
    uniform = head.startswith("U") or head in ("R2UR", "S2UR")
    return "uniform" if uniform else "integer"


def width(instruction):
    """Bytes that a thread of this load or store moves."""
    for part in instruction.opcode.split(".")[1:]:
        if part in ("128", "64", "32", "16", "8"):
            return int(part) // 8
        if part in ("U8", "S8"):
            return 1
        if part in ("U16", "S16"):
            return 2
    return 4


def by_target(listing):
    """(sm_87, text) for each part of a listing that holds machine code."""
    parts = re.split(r"^arch = (sm_\d+)\w*$", listing, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def functions(text):
    """Name -> instructions, of `cuobjdump -sass`, without the padding behind the end."""
    found = {}
    for part in re.split(r"^\s*Function : ", text, flags=re.M)[1:]:
        name = part.split("\n", 1)[0].strip()
        code = [Instruction(int(m[1], 16), m[2] or "", m[3], m[4].strip())
                for m in map(INSTRUCTION.match, part.splitlines()) if m]
        while code and (code[-1].opcode == "NOP" or is_trap(code[-1])):
            code.pop()
        found[name] = code
    return found


def is_trap(instruction):
    """A jump to itself, where no thread arrives."""
    return instruction.opcode == "BRA" and instruction.operands == hex(instruction.address)


def resources(text):
    """Name -> registers, stack and static shared bytes, of `cuobjdump --dump-resource-usage`."""
    found = {}
    for name, usage in re.findall(r"Function (\S+?):?\n\s*(REG:.*)", text):
        registers, stack, shared, local = map(int, USAGE.match(usage).groups())
        found[name] = {"registers": registers, "stack": stack + local, "shared": shared}
    return found


def threads(text):
    """Name -> threads of a block, which __launch_bounds__ left in `cuobjdump -elf`."""
    found = {}
    parts = re.split(r"^(\.\S+)$", text, flags=re.M)  # headings of sections, and what is below each
    for heading, section in zip(parts[1::2], parts[2::2]):
        limit = re.search(r"EIATTR_MAX_THREADS\n.*\n\s*Value:((?:\s*0x[0-9a-f]+)+)", section)
        if heading.startswith(".nv.info.") and limit:
            x, y, z = (int(side, 16) for side in limit[1].split())
            found[heading.removeprefix(".nv.info.")] = x * y * z
    return found


def compiler(text):
    """The version of ptxas that made the code, from `cuobjdump -elf`."""
    version = re.search(r"Cuda compilation tools, release [\d.]+, V([\d.]+)", text)
    return version[1] if version else "unknown"
