"""Have the compiled kernels stayed within their budget? kernels/budget.json, by nvcc's own listings.

    kernel_budget.py check <folder of .o files> <budget.json> --cuobjdump <program>
    kernel_budget.py write <folder of .o files> <budget.json> --cuobjdump <program>
    kernel_budget.py table <budget.json> [--engram <program>]  as a table: highest rung of evidence tried, registers, spills,
                                                               shared memory, occupancy; with the program also what
                                                               share of the limit its model gives each kernel

A kernel leaves its budget with a spill, a register or a byte of shared memory more, a lower occupancy, fewer tensor
instructions; with more instructions, more bytes loaded or stored or fewer of them by wide accesses, for each instruction
that does the work in its loops, in what it does once, or in all, slow ways too. Another version of the compiler makes
other code: then only spills and vanished tensor instructions count, and that is said.
"""
import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from kernel_figures import read_object  # noqa: E402

SLACK = 1.02  # of instructions and bytes, for each instruction that does the work
MOVES = [f"{way}_{memory}" for way in ("load", "store") for memory in ("global", "shared")]


def effort(figures):
    """Instructions of the main loop for each that does the work; 0 without such a loop."""
    main = figures.get("main")
    return main["issued"] / main[figures["primary"]] if main else 0


def parts(figures):
    """Name, counts and what they are divided by, of each part of a kernel that is held."""
    primary = figures.get("primary")
    for name, part in (("the main loop", "main"), ("the loops around it", "around"), ("what is done once", "once")):
        counts = figures.get(part, {})
        times = counts.get(primary, 0) if part != "once" else 0
        yield name + (f" for each {primary}" if times else ""), counts, times or 1
    yield "all ways", figures["mix"], 1


def wide_bytes(counts, move, bits):
    """Moved by accesses of `bits` and more."""
    return sum(wide // 8 * counts.get(f"{move}_{wide}", 0) for wide in (64, 128) if wide >= bits)


def heavier(budget, found):
    """Sentences, one for each part that issues or moves more than its budget, or moves less by wide accesses."""
    for (where, had, had_times), (_, has, has_times) in zip(parts(budget), parts(found)):
        for key, what in [("issued", "instructions"), *((f"{move}_bytes", f"bytes of {move}") for move in MOVES)]:
            before, now = had.get(key, 0) / had_times, has.get(key, 0) / has_times
            if now > SLACK * before:
                yield f"{what} of {where}: {before:.2f} before, {now:.2f} now"
        for move in MOVES:
            for bits in (64, 128):
                before, now = wide_bytes(had, move, bits) / had_times, wide_bytes(has, move, bits) / has_times
                if SLACK * now < before:
                    yield f"bytes of {move} by {bits} bits of {where}: {before:.2f} before, {now:.2f} now"


def offences(budget, found, same_compiler):
    """Sentences, one for each way in which `found` leaves the budget of a kernel on a target."""
    if found["spills"] > 0:
        yield f"{found['spills']} spills"
    for where, had, has in (("", budget["mix"], found["mix"]),
                            (" in the main loop", budget.get("main", {}), found.get("main", {}))):
        if same_compiler and has.get("tensor", 0) < had.get("tensor", 0):
            yield f"tensor instructions{where}: {had['tensor']} before, {has.get('tensor', 0)} now"
        elif had.get("tensor", 0) > 0 and has.get("tensor", 0) == 0:
            yield f"tensor instructions{where} are gone"
    if not same_compiler:
        return
    for what in ("registers", "stack", "shared", "dynamic_shared"):
        if found[what] > budget[what]:
            yield f"{what}: {budget[what]} before, {found[what]} now"
    if found["occupancy"] < budget["occupancy"]:
        yield f"occupancy: {budget['occupancy']} % before, {found['occupancy']} % now"
    if found["threads"] != budget["threads"]:
        yield f"threads of a block: {budget['threads']} before, {found['threads']} now"
    if found.get("primary") != budget.get("primary") or ("main" in found) != ("main" in budget):
        yield f"the main loop is another: of {found.get('primary')}, before of {budget.get('primary')}"
    else:
        yield from heavier(budget, found)


def compare(budget, found):
    """All offences, of all kernels."""
    same = budget["compiler"] == found["compiler"]
    for kernel in sorted(set(budget["kernels"]) | set(found["kernels"])):
        had, has = budget["kernels"].get(kernel, {}), found["kernels"].get(kernel, {})
        for target in sorted(set(had) | set(has)):
            if target not in had:
                yield f"{kernel} {target}: has no budget"
            elif target in has:
                yield from (f"{kernel} {target}: {what}" for what in offences(had[target], has[target], same))
            elif not has or same:
                yield f"{kernel} {target}: was not compiled"


def read_all(folder, cuobjdump):
    found = {"compiler": None, "kernels": {}}
    for path in sorted(pathlib.Path(folder).glob("*.o")):
        compiler, kernels = read_object(path, path.name.split(".")[0], cuobjdump)
        found["kernels"].update(kernels)
        found["compiler"] = compiler if kernels else found["compiler"]
    return found


def as_text(found):
    """JSON with a line for each kernel and target."""
    kernels = ",\n".join(
        f' {json.dumps(kernel)}: {{\n' +
        ",\n".join(f"  {json.dumps(t)}: {json.dumps(targets[t], sort_keys=True)}" for t in sorted(targets)) + "}"
        for kernel, targets in sorted(found["kernels"].items()))
    return f'{{"compiler": {json.dumps(found["compiler"])},\n"kernels": {{\n{kernels}}}}}\n'


# The device that stands for a target in the model.
DEVICES = {"sm_87": "orin-nano-8gb", "sm_110": "agx-thor-128gb", "sm_86": "rtx-3080-10gb", "sm_89": "rtx-4090-24gb",
           "sm_120": "rtx-5090-32gb"}
JETSON = ("sm_87", "sm_110")  # the presets of tools/test --tier jetson
RUNGS = """
Rung tried: the highest that a tier of tools/test tries for this target; whether it passed, that tier says, not this table.
1 the CPU's operation against its definition; 2 the kernel's text in the emulator against the CPU, every access
judged, mutants noticed (tools/test, --tier mutants); 3 compiled by nvcc within this budget (--tier cuda); 4 linked for
aarch64 and started under qemu (--tier jetson); 5 on a device (engram doctor there). Nothing has reached 5."""
MODEL = """
% of limit: estimated, not measured, at M 10000, L 1280, 100 classes, by frames of a batch, with what binds: the time that
no kernel can beat on {devices} / the model's time of this one. None: an operation that the model leaves out."""


def shares(program):
    """(kernel, target) to "1: 86 memory, 16: 92 tensor", by the program's own model."""
    all_shares = {}
    for target, device in DEVICES.items():
        for arithmetic in ("exact", "float"):
            answer = json.loads(subprocess.run(
                [program, "--json", "plan", "--device", device, "--hidden", "10000", "--arithmetic", arithmetic],
                check=True, capture_output=True, text=True).stdout)
            for row in answer["estimates"]["operations"]:
                if "kernel" in row:
                    frames = f"{row['frames']}: " if "frames" in row else ""
                    text = f"{frames}{100 * row['share_of_limit']:.0f} {row['held_back_by']}"
                    of_kernel = all_shares.setdefault((row["kernel"], target), [])
                    of_kernel += [text] if text not in of_kernel else []
    return {key: ", ".join(texts) for key, texts in all_shares.items()}


def table(found, program=None):
    model = shares(program) if program else {}
    more = (" % of limit |", " --- |") if program else ("", "")
    yield "| kernel | target | rung tried | threads | registers | spills | shared | occupancy % | tensor | issued for each |" + more[0]
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |" + more[1]
    for kernel, targets in sorted(found["kernels"].items()):
        for target, f in sorted(targets.items(), key=lambda item: int(item[0][3:])):
            main = f"{effort(f):.2f} {f['primary']}" if "main" in f else ""
            share = f" {model.get((kernel, target), '')} |" if program else ""
            yield (f"| {kernel} | {target} | {4 if target in JETSON else 3} | {f['threads']} | {f['registers']} | "
                   f"{f['spills']} | {f['shared'] + f['dynamic_shared']} | {f['occupancy']} | "
                   f"{f['mix'].get('tensor', 0)} | {main} |{share}")
    yield RUNGS
    if program:
        yield MODEL.format(devices=", ".join(DEVICES.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "write", "table"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--engram", help="the program, for the model's share of the limit")
    arguments = parser.parse_args()
    budget_path = pathlib.Path(arguments.paths[-1])
    if arguments.what == "table":
        print("\n".join(table(json.loads(budget_path.read_text()), arguments.engram)))
        return 0
    found = read_all(arguments.paths[0], arguments.cuobjdump)
    if not found["kernels"]:
        sys.exit(f"kernel_budget: no compiled kernels in {arguments.paths[0]}; build the target engram_cuda first")
    if arguments.what == "write":
        budget_path.write_text(as_text(found))
        print(f"kernel_budget: {len(found['kernels'])} kernels of nvcc {found['compiler']} written to {budget_path}")
        return 0
    budget = json.loads(budget_path.read_text())
    if budget["compiler"] != found["compiler"]:
        print(f"kernel_budget: compiled by nvcc {found['compiler']}, the budget is of {budget['compiler']}: only spills "
              "and missing tensor instructions are judged")
    bad = list(compare(budget, found))
    print("\n".join(bad))
    print(f"kernel_budget: {len(found['kernels'])} kernels, {len(bad)} outside of the budget" +
          (". If that is meant, write a new one: kernel_budget.py write" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
