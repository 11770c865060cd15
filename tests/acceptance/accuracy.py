"""The figures of the README: accuracy, time and memory of `engram evaluate` beside numpy, on real photos.

Usage: accuracy.py PROGRAM DATA [--hidden 2000 ...]
  PROGRAM: the engram binary, with efficientnet-lite0 in its store. DATA: a folder with train/<class>/ and test/<class>/.
For each M it runs `engram evaluate` (exact, float Gaussian, float bipolar, no projection, nearest mean; rule
`paper`) and ridge_numpy.py on the features that `engram features` wrote, in the same run, and checks:
  exact within 0.3 points of float with the same weights; float within 0.1 of numpy's; not slower and with less memory.
Exits 1 if a check fails. Needs numpy.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HEADS = ["exact", "float-bipolar", "float", "none", "ncm"]


def peak_mb_of(command, **options):
    """Runs a command; returns its standard output and its own peak memory."""
    wrapper = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:]);"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr);"
               "sys.exit(r.returncode)")
    done = subprocess.run([sys.executable, "-c", wrapper, *command], capture_output=True, text=True, **options)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout, int(done.stderr.strip().splitlines()[-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("data")
    p.add_argument("--hidden", type=int, nargs="+", default=[2000])
    p.add_argument("--tasks", type=int, default=10)
    a = p.parse_args()
    here, failures = pathlib.Path(__file__).parent, []

    def check(condition, sentence):
        print(("ok    " if condition else "MISS  ") + sentence, flush=True)
        if not condition:
            failures.append(sentence)

    with tempfile.TemporaryDirectory() as work:
        for part in ("train", "test"):
            subprocess.run([a.program, "features", "--tree", f"{a.data}/{part}", "-o", f"{work}/{part}", "--quiet"], check=True)
        for hidden in a.hidden:
            common = ["--train", f"{a.data}/train", "--test", f"{a.data}/test", "--tasks", str(a.tasks),
                      "--hidden", str(hidden), "--lambda", "paper", "--json", "--out", f"{work}/report"]
            out, _ = peak_mb_of([a.program, "evaluate", "--head", ",".join(HEADS), *common])
            heads = {h["head"]: h for h in json.loads(out)["heads"]}
            print(f"\nM = {hidden}, {a.tasks} tasks\n| learner | A_T % | F_T | seconds |\n|---|---|---|---|")
            for name in HEADS:
                h = heads[name]
                print(f"| {name} | {h['average_accuracy']:.2f} | {h['forgetting']:.2f} | {h['seconds']:.1f} |", flush=True)
            final = {name: heads[name]["average_accuracy"] for name in HEADS}
            # The same head alone, for its memory, right before numpy.
            _, ours_mb = peak_mb_of([a.program, "evaluate", "--head", "float", *common])
            out, numpy_mb = peak_mb_of([sys.executable, str(here / "ridge_numpy.py"), f"{work}/train", f"{work}/test",
                                        "--hidden", str(hidden), "--tasks", str(a.tasks)])
            numpy = json.loads(out)
            print(f"| numpy, Gaussian | {numpy['average_accuracy']:.2f} | | {numpy['seconds']:.1f} |\n")
            check(abs(final["exact"] - final["float-bipolar"]) <= 0.3, "exact is within 0.3 points of float")
            check(abs(final["float"] - numpy["average_accuracy"]) <= 0.1, "float is within 0.1 points of numpy")
            check(heads["float"]["seconds"] <= numpy["seconds"],
                  f"not slower than numpy: {heads['float']['seconds']:.1f} s against {numpy['seconds']:.1f} s")
            check(ours_mb <= numpy_mb, f"less memory than numpy: {ours_mb} MB (with backbone) against {numpy_mb} MB")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
