"""Have the compiled kernels stayed within their budget? kernels/budget.json, by nvcc's own listings.

    kernel_budget.py check <folder of .o files> <budget.json> --cuobjdump <program>
    kernel_budget.py write <folder of .o files> <budget.json> --cuobjdump <program>
    kernel_budget.py table <budget.json>                       as a table: registers, spills, shared memory, occupancy

A kernel leaves its budget with a spill, a register or a byte of shared memory more, a lower occupancy, fewer tensor
instructions, or with more instructions for each of them in its main loop. Another version of the compiler makes other
code: then only spills and vanished tensor instructions count, and that is said.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from kernel_figures import read_object  # noqa: E402

SLACK = 1.02  # of instructions in the main loop, for each instruction that does the work


def effort(figures):
    """Instructions of the main loop for each that does the work; 0 without such a loop."""
    main = figures.get("main")
    return main["issued"] / main[figures["primary"]] if main else 0


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
    elif effort(found) > SLACK * effort(budget):
        yield (f"instructions of the main loop for each {found['primary']}: {effort(budget):.2f} before, "
               f"{effort(found):.2f} now")


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


def table(found):
    yield "| kernel | target | threads | registers | spills | shared | occupancy % | tensor | issued for each |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for kernel, targets in sorted(found["kernels"].items()):
        for target, f in sorted(targets.items(), key=lambda item: int(item[0][3:])):
            main = f"{effort(f):.2f} {f['primary']}" if "main" in f else ""
            yield (f"| {kernel} | {target} | {f['threads']} | {f['registers']} | {f['spills']} | "
                   f"{f['shared'] + f['dynamic_shared']} | {f['occupancy']} | {f['mix'].get('tensor', 0)} | {main} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "write", "table"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    arguments = parser.parse_args()
    budget_path = pathlib.Path(arguments.paths[-1])
    if arguments.what == "table":
        print("\n".join(table(json.loads(budget_path.read_text()))))
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
