"""One report on real data: RanPAC with every rule for lambda, beside no projection, nearest mean, LDA and joint training.

Usage: report.py PROGRAM OUT --caltech DIR --pacs DIR [--backbone NAME=FILE.onnx ...] [--hidden 2000] [--large 10000] [--rules code,paper,loo] [--projections 1,2,3] [--open-seeds 1993,1994,1995] [--only-open] [--only-few]
  caltech: train/<class>/, test/<class>/; 10 tasks of 10 classes and 100 tasks of one.
  pacs: <domain>/train/<class>/, <domain>/test/<class>/; the domains in turn.
  backbones: efficientnet-lite0 of the program's store, and those named (added to the store as they are).
Every rule, of which the last is ours, is run with --hidden and with --large units, mean and deviation over --projections.
Then the open set: three tenths of the classes held out, --open-seeds of them, 10 photos a class of caltech, 20 of each domain
of pacs; what tells them, beside the best score alone, the false alarms at 5 % asked, and whether probabilities are true; also
as a stream of 10 tasks of which only sums are kept. --only-open prints that alone.
"few shots" and "uneven": all classes at once from 1 to 20 photos of each, and from long tails, mean of three seeds; every learner
sees the same photos. --only-few: only these.
Features are computed once and kept in OUT/features. Writes OUT/report.md, and below OUT one folder with a page for each table.
Prints whether the last rule is the best incremental row of each table. Needs numpy.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np

DOMAINS = ["photo", "art_painting", "cartoon", "sketch"]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Features:
    """Feature files of one backbone, computed when they are first wanted."""

    def __init__(self, program, folder, model, threads):
        self.program, self.folder, self.model, self.threads = program, folder, model, threads

    def tree(self, name, tree):
        stem = self.folder / f"{self.model}_{name}"
        if not pathlib.Path(f"{stem}_y.npy").exists():
            print(f"features of {tree} by {self.model}", flush=True)
            run(self.program, "features", "--model", self.model, "--threads", self.threads, "--tree", tree, "-o", stem)
        classes = pathlib.Path(f"{stem}_classes.txt").read_text().splitlines()
        return np.load(f"{stem}_x.npy"), np.array(classes)[np.load(f"{stem}_y.npy")]

    def caltech(self, root):
        file = self.folder / f"{self.model}_caltech.npz"
        if not file.exists():
            (x, y), (xt, yt) = (self.tree(f"caltech_{part}", f"{root}/{part}") for part in ("train", "test"))
            classes = np.unique(y)  # by number, as heads.py and accuracy.py want them; names go along
            np.savez(file, x_train=x, y_train=np.searchsorted(classes, y), x_test=xt,
                     y_test=np.searchsorted(classes, yt), classes=classes)
        return file

    def pacs(self, root):
        file = self.folder / f"{self.model}_pacs.npz"
        if not file.exists():
            arrays = {}
            for part in ("train", "test"):
                parts = [self.tree(f"pacs_{d}_{part}", f"{root}/{d}/{part}") for d in DOMAINS]
                arrays[f"x_{part}"] = np.concatenate([x for x, _ in parts])
                arrays[f"y_{part}"] = np.concatenate([y for _, y in parts])
                arrays[f"domain_{part}"] = np.repeat(DOMAINS, [len(y) for _, y in parts])
            np.savez(file, **arrays)
        return file


    def pacs_domain(self, root, domain):
        file = self.folder / f"{self.model}_pacs_{domain}.npz"
        if not file.exists():
            whole = np.load(self.pacs(root))
            np.savez(file, **{f"{k}_{part}": whole[f"{k}_{part}"][whole[f"domain_{part}"] == domain]
                              for part in ("train", "test") for k in "xy"})
        return file


def open_set(a, out, title, file, *words):
    """A row of means over the seeds, with the AUROC of each seed."""
    runs = json.loads(run(a.program, "evaluate", "--features", file, "--threads", a.threads, "--json", "--open-set", "0.3",
                          "--hidden", a.hidden, "--seed", a.open_seeds, "--out", out, *words))["open_set"]
    def mean(key):
        return sum(r[key] for r in runs) / len(runs)
    each = " ".join(f"{r['auroc']:.3f}/{r['auroc_best_score']:.3f}" for r in runs[:3])
    return (f"| {title} | {mean('auroc'):.3f} | {mean('auroc_best_score'):.3f} | {each} | {100 * mean('false_alarms'):.1f} | "
            f"{100 * mean('detected'):.0f} | {100 * mean('calibration_error'):.1f} | "
            f"{100 * mean('calibration_error_known'):.1f} | {sum(r['uses_leverage'] for r in runs)} of {len(runs)} |\n")


def open_sets(a, features):
    text = (f"\n## open set, {features.model}, M {a.hidden}, seeds {a.open_seeds}\n\n| data | AUROC | of best score | each (first 3) | "
            "false alarms % (5 asked) | unknown found % | ECE % | ECE of known % | uses leverage |\n|---|---|---|---|---|---|---|---|---|\n")
    sets = [("caltech101, 10 photos", features.caltech(a.caltech), "10")] if a.caltech else []
    sets += [(f"pacs {d}, 20 photos", features.pacs_domain(a.pacs, d), "20") for d in DOMAINS] if a.pacs else []
    for title, file, shots in sets:
        out = a.out / "open-set" / f"{features.model} {title}".replace(", ", "-").replace(" ", "-")
        text += open_set(a, out, title, file, "--shots", shots)
        text += open_set(a, out / "stream", title + ", 10 tasks, sums only", file, "--shots", shots, "--tasks", "10",
                         "--keep-features", "no")
    print(text, flush=True)
    return text


def evaluate(a, out, features, rules, *words):
    """The incremental rows, and those of joint training."""
    common = [a.program, "evaluate", "--features", features, "--threads", a.threads, "--json"]
    chosen = [*common, "--lambda", ",".join(rules)]
    rows = json.loads(run(*chosen, "--head", "engram,exact", "--hidden", f"{a.hidden},{a.large}", "--projection-seed",
                          a.projections, "--out", out, *words))["heads"]
    rows += json.loads(run(*chosen, "--head", "none,ncm,lda", "--out", out / "without", *words))["heads"]
    joint = json.loads(run(*common, "--head", "exact,probe", "--lambda", rules[-1], "--hidden", a.hidden, "--out",
                           out / "joint", "--protocol", "joint"))["heads"]
    return rows, joint


def few(a, title, features, samples):
    """A table of balanced accuracies: a row per learner, a column per amount of training samples."""
    seeds = ",".join(map(str, range(1993, 1996)))
    table = {}
    for words in samples:
        common = [a.program, "evaluate", "--features", features, "--threads", a.threads, "--json", "--protocol", "joint", "--seed", seeds, *words]
        rows = json.loads(run(*common, "--head", "engram,exact,none,ncm,lda", "--hidden", a.hidden))["heads"]
        large = json.loads(run(*common, "--head", "engram", "--hidden", a.large))["heads"]
        for row, name in [(large[0], f"engram, M {a.large}")] + [(r, r["head"]) for r in rows]:
            table.setdefault(name, []).append(row["balanced"])
    text = f"\n## {title}, M {a.hidden}\n\n| learner | {' | '.join(words[1] for words in samples)} |\n|---|{'---|' * len(samples)}\n"
    for name, values in table.items():
        text += f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} |\n"
    return text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("out", type=pathlib.Path)
    p.add_argument("--caltech"), p.add_argument("--pacs")
    p.add_argument("--backbone", action="append", default=[])
    p.add_argument("--hidden", type=int, default=2000)
    p.add_argument("--large", type=int, default=10000)
    p.add_argument("--rules", default="code,paper,loo")
    p.add_argument("--projections", default="1,2,3", help="seeds of the random weights")
    p.add_argument("--tasks", default="10,100", help="of caltech")
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--open-seeds", default="1993,1994,1995")
    p.add_argument("--only-open", action="store_true")
    p.add_argument("--only-few", action="store_true")
    a = p.parse_args()
    (a.out / "features").mkdir(parents=True, exist_ok=True)
    models = ["efficientnet-lite0"]
    known = {m["name"] for m in json.loads(run(a.program, "model", "list", "--json"))["models"]}
    for word in a.backbone:
        name, file = word.split("=", 1)
        models.append(name)
        if name not in known:
            run(a.program, "model", "add", file, "--preset", "imagenet", "--as", name)
    rules, text, notes = a.rules.split(","), "# Engram: report\n", []
    for model in models:
        features = Features(a.program, a.out / "features", model, a.threads)
        tables = []
        if a.caltech and not a.only_open:
            tables += [(f"caltech101, {tasks} tasks", features.caltech(a.caltech), ["--tasks", tasks]) for tasks in a.tasks.split(",")]
        if a.pacs and not a.only_open:
            tables.append(("pacs, domains in turn", features.pacs(a.pacs), ["--protocol", "dil"]))
        shots = [["--shots", n] for n in ("1", "2", "3", "5", "10", "20")]
        tails = [["--long-tail", range_] for range_ in ("30:10", "30:3", "30:1")]
        for name, file in {title.split(",")[0]: file for title, file, _ in tables}.items():
            text += few(a, f"few shots, {name}, {model}: photos of each class", file, shots)
            text += few(a, f"uneven, {name}, {model}: from most to fewest photos", file, tails)
            print(text[text.rindex("## few"):], flush=True)
        for title, file, words in [] if a.only_few else tables:
            folder = a.out / f"{model} {title}".replace(", ", "-").replace(" ", "-")
            rows, joint = evaluate(a, folder, file, rules, *words)
            text += f"\n## {title}, {model}, projections {a.projections}\n\n| learner | A_T % | mean A_t % | F_T | seconds |\n|---|---|---|---|---|\n"
            for row in rows + joint:
                name = row["head"] + (f" (joint, M {row['hidden']})" if row in joint and row["hidden"] else " (joint)" if row in joint else "")
                spread = f" ±{row['average_accuracy_deviation']:.1f}" if len(row["runs"]) > 1 else ""
                text += (f"| {name} | {row['average_accuracy']:.1f}{spread} | {row['mean_average_accuracy']:.1f} | "
                         f"{row['forgetting']:.1f} | {row['seconds']:.1f} |\n")
            best = max(rows, key=lambda r: r["average_accuracy"])
            ours = max((r for r in rows if r["kind"] == "engram" and r["lambda_rule"] == rules[-1]),
                       key=lambda r: r["average_accuracy"])
            behind = best["average_accuracy"] - ours["average_accuracy"]
            notes.append(f"{title}, {model}: ours ({ours['head']}) " +
                         ("is the best incremental row" if behind <= 0 else f"is {behind:.1f} points behind {best['head']}"))
            text += f"\n{notes[-1]}.\n"
            print(text[text.rindex("## "):], flush=True)
        text += open_sets(a, features)
    (a.out / "report.md").write_text(text)
    print(f"written to {a.out}/report.md")


if __name__ == "__main__":
    main()
