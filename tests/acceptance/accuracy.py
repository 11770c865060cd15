"""Figures of tests/acceptance/README.md ("Beside numpy"): accuracy, time and memory of `engram evaluate` beside numpy, on the same features.

Usage: accuracy.py PROGRAM FEATURES.npz [--hidden 2000 ...] [--rule paper] [--projections 3]
  FEATURES.npz: x_train, y_train, x_test, y_test. No backbone is opened by either side.
  --projections: how many random ones, at least 2, by the seeds 1, 2, 3, ...
For each M it runs `engram evaluate` (exact, float Gaussian, float bipolar, no projection, nearest mean) and
ridge_numpy.py in the same run, and checks:
  exact within 0.3 points of float, both with its own sign weights and with Gaussian ones. What is known of the difference is
  its mean over the projections and the standard error of that mean; it is a miss when the difference less two standard errors
  is more than 0.3, so when chance alone would hardly explain it. Few projections forgive much: the line tells the error;
  float within 0.1 of numpy's with the same projection and split; not slower and with less memory.
Exits 1 if a check fails. Needs numpy.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HEADS = ["exact", "float-bipolar", "float", "none", "ncm"]


def peak_mb_of(command):
    """Runs a command; returns its standard output and its own peak memory."""
    wrapper = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:]);"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr);"
               "sys.exit(r.returncode)")
    done = subprocess.run([sys.executable, "-c", wrapper, *map(str, command)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout, int(done.stderr.strip().splitlines()[-1])


def difference(one, other):
    """Of the accuracies of two heads, projection by projection: the mean, and its standard error."""
    accuracies = [{run["projection_seed"]: run["average_accuracy"] for run in head["runs"]} for head in (one, other)]
    if accuracies[0].keys() != accuracies[1].keys():
        sys.exit(f"{one['head']} and {other['head']} were not judged on the same projections")
    apart = [accuracies[0][seed] - accuracies[1][seed] for seed in accuracies[0]]
    return statistics.mean(apart), statistics.stdev(apart) / math.sqrt(len(apart))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("features")
    p.add_argument("--hidden", type=int, nargs="+", default=[2000])
    p.add_argument("--tasks", type=int, default=10)
    p.add_argument("--rule", default="paper")
    p.add_argument("--projections", type=int, default=3)
    p.add_argument("--threads", type=int, default=0)
    a = p.parse_args()
    if a.projections < 2:
        p.error("--projections: one alone does not tell chance; at least 2")
    seeds = ",".join(str(seed + 1) for seed in range(a.projections))
    here, failures = pathlib.Path(__file__).parent, []

    def check(condition, sentence):
        print(("ok    " if condition else "MISS  ") + sentence, flush=True)
        if not condition:
            failures.append(sentence)

    with tempfile.TemporaryDirectory() as work:
        for hidden in a.hidden:
            common = [a.program, "evaluate", "--features", a.features, "--tasks", a.tasks, "--hidden", hidden,
                      "--threads", a.threads, "--lambda", a.rule, "--json", "--out", f"{work}/report"]
            out, _ = peak_mb_of([*common, "--head", ",".join(HEADS), "--projection-seed", seeds])
            heads = {h["head"]: h for h in json.loads(out)["heads"]}
            print(f"\nM = {hidden}, {a.tasks} tasks, rule {a.rule}, projections {seeds}\n"
                  "| learner | A_T % | F_T | seconds |\n|---|---|---|---|")
            for name in HEADS:
                h = heads[name]
                print(f"| {name} | {h['average_accuracy']:.2f} ±{h['average_accuracy_deviation']:.2f} | "
                      f"{h['forgetting']:.2f} | {h['seconds']:.1f} |", flush=True)
            # The first projection alone, for time and memory, right before numpy.
            out, ours_mb = peak_mb_of([*common, "--head", "float"])
            ours = json.loads(out)["heads"][0]
            out, numpy_mb = peak_mb_of([sys.executable, here / "ridge_numpy.py", a.features, "--hidden", hidden,
                                        "--tasks", a.tasks, "--rule", a.rule])
            numpy = json.loads(out)
            print(f"| float, projection 1 | {ours['average_accuracy']:.2f} | | {ours['seconds']:.1f} |\n"
                  f"| numpy, projection 1 | {numpy['average_accuracy']:.2f} | | {numpy['seconds']:.1f} |\n")
            for name, kind in (("float-bipolar", "sign weights"), ("float", "Gaussian weights")):
                apart, error = difference(heads["exact"], heads[name])
                check(round(abs(apart) - 2 * error, 6) <= 0.3,
                      f"exact is within 0.3 points of float with {kind}, or chance explains the rest: {apart:+.2f}, standard "
                      f"error {error:.2f} over {a.projections} projections")
            check(abs(ours["average_accuracy"] - numpy["average_accuracy"]) <= 0.1 + 1e-9,
                  f"float is within 0.1 points of numpy: {ours['average_accuracy']:.2f} and {numpy['average_accuracy']:.2f}")
            check(ours["seconds"] <= numpy["seconds"],
                  f"not slower than numpy: {ours['seconds']:.1f} s against {numpy['seconds']:.1f} s")
            check(ours_mb <= numpy_mb, f"less memory than numpy: {ours_mb} MB against {numpy_mb} MB")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
