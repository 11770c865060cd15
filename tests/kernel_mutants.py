"""Switches off each barrier, mask and bound of the CUDA kernels, one at a time, and shows that the tests notice.

    kernel_mutants.py <kernel_check> <mutants.json> [--all | kernels...]      else a few of each kernel

kernel_check holds every mutant (support/mutate_kernels.py says what they are) and runs the tests of one operation
with one of them. A mutant that no test notices is a hole in the tests, or makes no difference: those are listed here
with the reason.
"""
import json
import os
import subprocess
import sys
import time

# Tests that reach a file, where they are not those of the operation it is named after.
TESTS = {"dot_rows_device.h": "[score]", "column_sums_device.h": "[combine_rows]",
         "factor.cu": "[factor],[cholesky],[factor_append]", "attention_device.h": "[attention],[attention_back]",
         "gelu_device.h": "[gelu],[gelu_back]", "warp_sum_device.h": "[layer_norm],[unit_rows],[leverage]",
         "picture_view.h": "[preprocess]", "preprocess_axis.h": "[preprocess]"}
TIMEOUT = 900  # seconds; a mutant that hangs is noticed as well

# (kernel, text) of what costs time when it is missing, and nothing else; with "first place" or "last place": there only.
HARMLESS = {
    ("attention.cu", "tile < tokens"): "a tile of keys more, all of their weights zeros",
    ("attention_back.cu", "tile < tokens"): "a tile of rows more, all of their weights zeros",
    ("column_sums_device.h", "part_begin < left.cols"): "a part more, with nothing in it",
    ("combine_rows.cu", "m >= sums.cols"): "the thread then computes the last column again and stores none of it",
    ("project.cu", "m >= h.cols"): "the thread then computes the last column again and stores none of it",
    ("dot_rows_device.h", "first_n >= right.rows"): "the warp then computes the last row again and stores none of it",
    ("factor.cu", "tile_c > tile_r"): "the block then reads a tile and stores none of it",
    ("factor.cu", "r >= first", "first place"): "reads what is not stored",
    ("gram_update.cu", "first_col > first_row"): "the block then computes a tile and stores none of it",
    ("gram_update.cu", "first_row >= g.size"): "the block then computes a tile and stores none of it",
    ("gram_update.cu", "frame < h.rows"): "32 frames more, all of them zeros",
    ("kernel_rows.cu", "unit < right.cols"): "64 units more, all of them zeros",
    ("kernel_rows.cu", "at < kRows * kVectors", "first place"): "reads what is not stored",
    ("preprocess.cu", "top < end"): "rows more, which no output wants",
    ("preprocess.cu", "x < tile_cols", "last place"): "columns more, of windows inside of the picture, which no output wants",
    ("preprocess_axis.h", "x < 1.0", "first place"): "a window ends where the filter does, and there it is 0",
    ("preprocess_axis.h", "x < 2.0"): "a window ends where the filter does, and there it is 0",
    ("sign_project.cu", "kStage * kPlaces < kThreads"): "known when compiled; the bound beside it holds for all",
    ("sign_project.cu", "stage < w.word_rows()"): "a stage more, all of it zeros",
    ("sign_project.cu", "min(kOneStage, w.word_rows() - stage)"): "rows more, all of them zeros",
}


def harmless(mutant, mutants):
    key = (mutant["kernel"], mutant["text"])
    if key in HARMLESS:
        return True
    same = [m["number"] for m in mutants if (m["kernel"], m["text"]) == key]
    return any((*key, place) in HARMLESS and mutant["number"] == same[at]
               for place, at in (("first place", 0), ("last place", -1)))


def noticed(program, mutant):
    tests = TESTS.get(mutant["kernel"], "[" + mutant["kernel"].rsplit(".", 1)[0] + "]")
    environment = dict(os.environ, ENGRAM_MUTANT=str(mutant["number"]))
    try:
        return subprocess.run([program, tests, "--abort"], env=environment, timeout=TIMEOUT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def sample(mutants):
    """The first barrier and the first bound of each kernel."""
    chosen = {}
    for mutant in mutants:
        if mutant["kind"] in ("barrier", "bound") and not harmless(mutant, mutants):
            chosen.setdefault((mutant["kernel"], mutant["kind"]), mutant)
    return list(chosen.values())


def summary(verdicts):
    """A table: of each file the mutants by kind, and what became of them."""
    kinds = sorted({kind for _, kind, _ in verdicts})
    outcomes = ("noticed", "makes no difference", "NOT NOTICED")
    yield "| file | " + " | ".join((*kinds, *outcomes)) + " |"
    yield "| --- " * (1 + len(kinds) + len(outcomes)) + "|"
    rows = [(kernel, [v for v in verdicts if v[0] == kernel]) for kernel in sorted({v[0] for v in verdicts})]
    for name, of_file in rows + [("all", verdicts)]:
        counts = [sum(kind == v[1] for v in of_file) for kind in kinds]
        counts += [sum(outcome == v[2] for v in of_file) for outcome in outcomes]
        yield f"| {name} | " + " | ".join(map(str, counts)) + " |"


def main():
    program, every = sys.argv[1], json.load(open(sys.argv[2]))
    wanted = sys.argv[3:]
    mutants = [m for m in every if "--all" in wanted or m["kernel"] in wanted] if wanted else sample(every)
    survivors = 0
    verdicts = []
    for mutant in mutants:
        start = time.monotonic()
        is_harmless = harmless(mutant, every)
        is_noticed = noticed(program, mutant)
        survivors += not is_noticed and not is_harmless
        verdict = "noticed" if is_noticed else "makes no difference" if is_harmless else "NOT NOTICED"
        verdicts.append((mutant["kernel"], mutant["kind"], verdict))
        print(f"{mutant['kernel']}:{mutant['line']:<4} {mutant['kind']:8} {verdict:20} {time.monotonic() - start:5.1f} s  "
              f"{mutant['text'][:70]}", flush=True)
    print("\n".join(summary(verdicts)))
    print(f"mutants: {len(mutants)} of {len(every)} tried, {survivors} not noticed")
    sys.exit(survivors > 0)


main()
