"""Figures of every compiled kernel: what cuobjdump says of an object file, put together."""
import re
import shutil
import subprocess

import sass
import sass_paths
from occupancy import SHARED_RESERVED, occupancy

# Dynamic shared memory by kernel: none asks for any. A launch with .shared_bytes needs its line here.
DYNAMIC_SHARED = {}


def short_name(demangled):
    """many_frames<8> of void engram::cuda::(anonymous namespace)::many_frames_kernel<8>(...)."""
    match = re.search(r"::(\w+?)(?:_kernel)?(<.*?>)?\(", demangled.replace("(anonymous namespace)", "anonymous"))
    return match[1] + re.sub(r"\(\w+\)", "", match[2] or "").replace("unsigned char", "byte")


def figures_of(name, target, code, usage, threads):
    """One kernel on one target; also what the tests of the checker make up."""
    dynamic = DYNAMIC_SHARED.get(name, 0)
    shared = usage["shared"]
    if shared > 0 and int(target[3:]) >= 100:  # there the listing has what the system reserves in it
        shared -= SHARED_RESERVED
    followed = sass_paths.follow(code)
    mix = sass_paths.counts(code)
    return {"threads": threads, "registers": usage["registers"], "stack": usage["stack"],
            "spills": mix.get("load_local", 0) + mix.get("store_local", 0),
            "shared": shared, "dynamic_shared": dynamic,
            "occupancy": occupancy(target, threads, usage["registers"], shared + dynamic),
            "mix": mix, **followed}


def dump(program, option, path):
    return subprocess.run([program, option, path], check=True, capture_output=True, text=True).stdout


def read_object(path, operation, cuobjdump):
    """(compiler, {kernel: {target: figures}}) of an object file."""
    listing, elf = dump(cuobjdump, "-sass", path), dump(cuobjdump, "-elf", path)
    usage_of = dict(sass.by_target(dump(cuobjdump, "--dump-resource-usage", path)))
    elf_of = dict(sass.by_target(elf))
    found = {}
    for target, text in sass.by_target(listing):
        code = sass.functions(text)
        usage, threads = sass.resources(usage_of[target]), sass.threads(elf_of[target])
        names = subprocess.run([shutil.which("c++filt"), *code], check=True, capture_output=True, text=True).stdout
        for mangled, demangled in zip(code, names.splitlines()):
            name = f"{operation}.{short_name(demangled)}"
            found.setdefault(name, {})[target] = figures_of(name, target, code[mangled], usage[mangled],
                                                            threads[mangled])
    return sass.compiler(elf), found
