"""The architecture, as a test: who may include whom, which files come in sets, and that READMEs name their folder's files.

Usage: structure_test.py <repository root>. Exits 1 and lists every offence.
"""
import fnmatch
import pathlib
import re
import sys

# A folder may include itself and the folders to its right.
MAY_INCLUDE = {
    "platform": {"platform"},
    "kernels": {"kernels", "platform"},
    "engine": {"engine", "kernels", "platform"},
    "tools": {"tools", "engine", "kernels", "platform"},
    "tests": {"tests", "tools", "engine", "kernels", "platform"},
}
# These headers may appear only in files that match.
VENDOR = {
    r"cuda_runtime|cublas|cusolver": r"platform/launch\.h|platform/\w+_cuda\.\w+|kernels/\w+\.cu|tests/cuda/\w+_cuda\.\w+",
    r"NvInfer|NvOnnx": r"platform/\w+_tensorrt\.\w+",
    r"^openvino/": r"platform/\w+_openvino\.\w+",
    r"turbojpeg|^png\.h": r"platform/image\w*\.cpp|tests/.*",
    r"^gst/": r"platform/camera_gstreamer\.cpp",
    r"linux/videodev2": r"platform/camera_v4l2\w*\.\w+|tests/platform/camera_v4l2_test\.cpp|tests/support/fake_v4l2\.h",
    r"^sodium|xxhash": r"platform/hash\.cpp",
    r"^boost/": r"tools/web/http_\w+\.\w+",
    r"^CLI/": r"tools/(main\.cpp|commands/\w+\.\w+)",
    r"catch2/": r"tests/.*",
    # These bring CUDA's words into the file.
    r"platform/launch\.h": r"kernels/\w+\.cu|kernels/\w+_device\.h|tests/platform/simt_\w*test\.cpp|tests/support/simt_checker_test\.cpp",
    r"platform/simt\.h": r"platform/launch\.h",
}
SOURCES = {".h", ".cpp", ".cu"}
# The tables, and types that operations share.
NOT_AN_OPERATION = {"kernels", "chosen_kernels", "kernels_simt", "kernels_cuda", "backend", "staged_call", "staged_operands", "staged_sequence",
                    "kernel_sequence", "gram_view",
                    "kept_view", "preprocess_axis", "kernel_code", "kernel_work", "kernel_work_rows",
                    "roofline", "sign_batch"}
TOP_LEVEL = {"engine", "kernels", "platform", "tools", "tests", "toolchains", "CMakeLists.txt",
             "README.md", "CMakePresets.json", "LICENSE", "CHANGELOG.md", "build"}

# Their READMEs begin with a table of all files.
LISTED = ("engine", "platform", "toolchains", "tools", "tools/bundle", "tools/convert")


def patterns(text):
    """What a table of files names, in backticks: `x.h`, `x.*`, `x` for both, `x_*`, `x_{a,b}.cpp`."""
    for name in re.findall(r"`([^`\s]+)`", re.search(r"(?m)^\| files? \|.*(\n\|.*)*", text).group()):
        start, choices, end = re.fullmatch(r"([^{]*)(?:\{([^}]*)\})?(.*)", name).groups()
        yield from (start + choice + end for choice in (choices or "").split(","))


def unlisted(root):
    for folder in LISTED:
        known = set(patterns((root / folder / "README.md").read_text()))
        for path in sorted(p for p in (root / folder).rglob("*") if p.is_file() and p.name != "README.md"):
            names = path.relative_to(root / folder).as_posix(), path.stem
            if not any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in known):
                yield f"{folder}/{names[0]}: {folder}/README.md does not name it"


def offences(root):
    yield from unlisted(root)
    for path in sorted(p for p in root.rglob("*") if p.suffix in SOURCES):
        name = path.relative_to(root).as_posix()
        folder = name.split("/")[0]
        if folder not in MAY_INCLUDE:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include\s+[<"]([^>"]+)[>"]', line)
            if not match:
                continue
            target = match.group(1)
            target_folder = target.split("/")[0]
            if target_folder in MAY_INCLUDE and target_folder not in MAY_INCLUDE[folder]:
                yield f"{name}:{number}: {folder}/ may not include {target_folder}/"
            for header, allowed in VENDOR.items():
                if re.search(header, target) and not re.fullmatch(allowed, name):
                    yield f"{name}:{number}: {target} belongs elsewhere"
    for header in sorted((root / "kernels").glob("*.h")):
        op = header.stem
        if op in NOT_AN_OPERATION or op.endswith(("_cpu", "_device")):
            continue
        for twin in (f"kernels/{op}_cpu.cpp", f"tests/kernels/{op}_test.cpp"):
            if not (root / twin).exists():
                yield f"kernels/{op}.h: {twin} is missing"
    table = (root / "kernels/kernels_simt.h").read_text()
    cuda_table = (root / "kernels/kernels_cuda.h").read_text()
    for kernel in sorted((root / "kernels").glob("*.cu")):
        op = kernel.stem
        if (root / f"kernels/{op}_device.h").exists():  # shared by operations
            continue
        header = root / f"kernels/{op}.h"
        if not header.exists() or len(re.findall(rf"// {op}\.cu", header.read_text())) != 2:
            yield f"kernels/{op}.cu: kernels/{op}.h does not declare it for cuda and simt"
        if f".{op} = simt::{op}" not in table:
            yield f"kernels/{op}.cu: not in kernels/kernels_simt.h"
        if f".{op} = staged<cuda::kMemory, cuda::{op}>" not in cuda_table:
            yield f"kernels/{op}.cu: not in kernels/kernels_cuda.h"
        if f"test::backends(&Kernels::{op})" not in (root / f"tests/kernels/{op}_test.cpp").read_text():
            yield f"kernels/{op}.cu: tests/kernels/{op}_test.cpp does not run it"
    for entry in sorted(root.iterdir()):
        if not entry.name.startswith((".", "build")) and entry.name not in TOP_LEVEL:
            yield f"{entry.name}: not a part of the top level"


found = list(offences(pathlib.Path(sys.argv[1])))
print("\n".join(found) or "structure: ok")
sys.exit(bool(found))
