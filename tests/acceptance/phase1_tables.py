"""Where Phase 1 helps: every method beside the frozen backbone, under the heads of the paper's Table 1.

Usage: phase1_tables.py PROGRAM OUT [--caltech DIR] [--pacs DIR] [--fashion DIR] [--vit FILE.onnx] [--methods adaptformer,ssf,vpt]
                        [--only SET,...] [--side 56] [--epochs 10] [--batch 16] [--seeds 1993] [--hidden 2000] [--threads 0] [-- ...]
  caltech: train/<class>/, test/<class>/; ten tasks of ten classes.
  pacs: <domain>/train/<class>/ ...; the sketches first, then the other domains, and the sketches alone in tasks of classes.
  fashion: as caltech (fashion_mnist.py makes it); two tasks of five classes with 100 training pictures each.
  Pictures of --side pixels: an epoch at 112 takes four times as long as at 56.
  vit: DINOv2 ViT-S/14 as ONNX; without it `engram model add dinov2-vits14` fetches it.
Sets whose folder is not given are left out, and named. Each run's answer is kept in OUT: the same command goes on where it
was stopped. Writes OUT/phase1.md and prints it. What follows `--` is handed to `engram evaluate`.
"""
import argparse
import json
import pathlib
import subprocess
import sys

# By the name in evaluate's answer: its word for --head, and the row's title.
HEADS = {"engram": ("engram", "Phase 2, engram"), "ranpac": ("ranpac", "Phase 2, RanPAC"),
         "no-projection": ("none", "ridge without projection"), "ncm": ("ncm", "nearest class mean")}
DOMAINS = "sketch,cartoon,art_painting,photo"


def sets(a):
    """name -> words of `engram evaluate`, or None where the data is not there."""
    tree = lambda root: ["--train", f"{root}/train", "--test", f"{root}/test"]
    pacs = lambda domain: ["--train", f"{a.pacs}/{domain}/train", "--test", f"{a.pacs}/{domain}/test"]
    return {
        "fashion": a.fashion and [*tree(a.fashion), "--tasks", "2", "--shots", "100"],
        "caltech": a.caltech and [*tree(a.caltech), "--tasks", "10"],
        "pacs-sketch-first": a.pacs and [*pacs("{}"), "--protocol", "dil", "--domains", DOMAINS],
        "pacs-sketches": a.pacs and [*pacs("sketch"), "--first", "4", "--increment", "1"],
    }


def run(*words, json_answer=True):
    done = subprocess.run([str(w) for w in words] + (["--json"] if json_answer else []), stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, words))} failed with {done.returncode}:\n{done.stdout}")
    return json.loads(done.stdout) if json_answer else done.stdout


def add_model(a):
    name = f"dinov2-vits14-{a.side}"
    if name not in {m["name"] for m in run(a.program, "model", "list")["models"]}:
        source = [a.vit, "--preset", "imagenet"] if a.vit else ["dinov2-vits14"]
        run(a.program, "model", "add", *source, "--side", a.side, "--as", name, json_answer=False)
    return name


def evaluate(a, name, words, method):
    file = a.out / f"{name}-{method}.json"
    if not file.exists():
        print(f"phase1_tables: {name}, {method}", file=sys.stderr, flush=True)
        answer = run(a.program, "evaluate", *words, "--model", add_model(a), "--phase1", method,
                     "--phase1-epochs", a.epochs, "--phase1-batch", a.batch, "--head", ",".join(word for word, _ in HEADS.values()),
                     "--hidden", a.hidden, "--seed", a.seeds, "--threads", a.threads, "--out", a.out / f"{name}-{method}", *a.rest)
        file.write_text(json.dumps(answer))
    return json.loads(file.read_text())


def table(name, side, answers):
    """answers: method -> what evaluate said."""
    one = next(iter(answers.values()))
    rows = lambda answer, phase1: {r["kind"]: r for r in answer["heads"] if (r["phase1"] is not None) == phase1}
    text = (f"\n## {name}: {one['train_samples']} training and {one['test_samples']} test pictures of {len(one['classes'])} classes, "
            f"{side} pixels\n\n| A_T in % | frozen | {' | '.join(answers)} |\n|---|---|{'---|' * len(answers)}\n")
    for kind, (_, title) in HEADS.items():
        values = [rows(one, False)[kind]] + [rows(answer, True)[kind] for answer in answers.values()]
        text += f"| {title} | {' | '.join(format(v['average_accuracy'], '.1f') for v in values)} |\n"
    for method, answer in answers.items():
        for p in answer["phase1"]:
            text += (f"\n{method}, order {p['class_seed']}: {p['adapted']}; loss {p['curves'][0]['loss']:.3f} to {p['curves'][-1]['loss']:.3f}; "
                     f"nearest mean on {p['held_out']} held out {p['nearest_mean_before']:.1f} to {p['nearest_mean_after']:.1f} %; "
                     f"{p['seconds'] / 60:.1f} minutes of training\n")
    return text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("out", type=pathlib.Path)
    p.add_argument("--caltech"), p.add_argument("--pacs"), p.add_argument("--fashion"), p.add_argument("--vit")
    p.add_argument("--methods", default="adaptformer,ssf,vpt"), p.add_argument("--only", default="")
    p.add_argument("--side", default="56"), p.add_argument("--epochs", default="10"), p.add_argument("--batch", default="16")
    p.add_argument("--seeds", default="1993"), p.add_argument("--hidden", default="2000"), p.add_argument("--threads", default="0")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    a = p.parse_args(words[:at])
    a.rest = words[at + 1:]
    a.out.mkdir(parents=True, exist_ok=True)
    text = "# Phase 1 beside the frozen backbone\n"
    for name, found in sets(a).items():
        if a.only and name not in a.only.split(","):
            continue
        if not found:
            print(f"SKIPPED: {name}: its pictures were not given", flush=True)
            continue
        text += table(name, a.side, {method: evaluate(a, name, found, method) for method in a.methods.split(",")})
    (a.out / "phase1.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
