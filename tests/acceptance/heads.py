"""Every head of `engram evaluate` against its definition in numpy (double), and against scikit-learn where that has it.

Usage: heads.py PROGRAM FEATURES.npz [--targets TARGETS.npz] [--hidden 1000] [--rule code] [--tasks 10] [--heads LIST]
  FEATURES.npz: x_train, y_train, x_test, y_test; labels 0..K-1.
Final predictions of a class-incremental run depend on all samples and the last lambda only, so each is solved once here,
jointly, with that lambda, and the answers are compared: at least 99 % the same, accuracy within 0.2 points.
scikit-learn (Ridge, LinearDiscriminantAnalysis) is compared where it is installed; else a line says SKIPPED.
Exits 1 if a comparison fails. Needs numpy.
"""
import argparse
import functools
import json
import subprocess
import sys
import tempfile

import numpy as np
from projection import weights

HEADS = ["float", "float-bipolar", "none", "pairwise", "ncm", "lda", "rp-lda", "scaled", "balanced"]
SHRINKAGE = 0.01


def ridge(gram, sums, strength):
    return np.linalg.solve(gram + strength * np.eye(len(gram)), sums)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-30)


class Problem:
    """Features or hidden units of both parts, with G, C and counts, in double."""

    def __init__(self, x, y, xt, classes):
        self.x, self.xt, self.y = x.astype(float), xt.astype(float), y
        self.target = np.eye(classes)[y]
        self.sums, self.n = self.x.T @ self.target, self.target.sum(0)
        self.means = self.sums / self.n

    @functools.cached_property
    def gram(self):
        return self.x.T @ self.x

    @functools.cached_property
    def scatter(self):
        return self.gram - (self.means * self.n) @ self.means.T

    def readout(self, target, strength):
        """(G + lambda I)^-1 X' target; by the N x N kernel where that is smaller."""
        if len(self.x) < self.x.shape[1]:
            return self.x.T @ ridge(self.x @ self.x.T, target, strength)
        return ridge(self.gram, self.x.T @ target, strength)

    def answers(self, readout, bias=0):
        return np.argmax(self.xt @ readout + bias, 1)

    def lda(self):
        s = self.scatter / (len(self.y) - len(self.n))
        v = np.linalg.solve(s + SHRINKAGE * np.trace(s) / len(s) * np.eye(len(s)), self.means)
        return self.answers(v, -0.5 * (self.means * v).sum(0))

    def balanced(self, strength):
        a = len(self.y) / len(self.n)
        return self.answers(ridge(self.scatter + a * self.means @ self.means.T, a * self.means, strength))


def pairs(f):
    f = f[:, :100].astype(np.float32)
    return (f[:, :, None] * f[:, None, :]).reshape(len(f), -1)  # the flattened cross product itself


def definitions(x, y, xt, classes, hidden, lambdas, targets):
    """head -> final predictions, from the definitions alone; of the heads that have a lambda only those that were run."""
    raw = Problem(x, y, xt, classes)
    if "none" in lambdas:
        yield "none", raw.answers(raw.readout(raw.target, lambdas["none"]))
    if "ncm" in lambdas:
        yield "ncm", raw.answers(unit(raw.means.T).T)
    if "lda" in lambdas:
        yield "lda", raw.lda()
    if "pairwise" in lambdas:
        p = Problem(pairs(x), y, pairs(xt), classes)
        yield "pairwise", p.answers(p.readout(p.target, lambdas["pairwise"]))
    for name, kind in (("float", "gaussian"), ("float-bipolar", "bipolar")):
        w = weights(kind, x.shape[1], hidden, 1)
        h = Problem(np.maximum(x @ w, 0), y, np.maximum(xt @ w, 0), classes)
        if name in lambdas:
            yield name, h.answers(h.readout(h.target, lambdas[name]))
        if kind == "gaussian":
            continue
        if "scaled" in lambdas:
            yield "scaled", h.answers(h.readout(h.target, lambdas["scaled"]) * h.n ** -0.75)
        if "balanced" in lambdas:
            yield "balanced", h.balanced(lambdas["balanced"])
        if "rp-lda" in lambdas:
            yield "rp-lda", h.lda()
        if "regression" in lambdas:
            vectors = h.xt @ h.readout(h.target @ targets, lambdas["regression"])
            yield "regression", np.argmax(unit(vectors) @ unit(targets).T, 1)


def from_sklearn(x, y, xt, classes, lambdas):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge
    if "none" in lambdas:
        fit = Ridge(alpha=lambdas["none"], fit_intercept=False).fit(x.astype(float), np.eye(classes)[y])
        yield "none", np.argmax(fit.predict(xt.astype(float)), 1)
    if "lda" not in lambdas:
        return
    # Its shrinkage mixes, ours adds: S + a t I is (1 - s) S + s t I, times 1 + a, for s = a / (1 + a).
    prior = np.bincount(y) / len(y)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=SHRINKAGE / (1 + SHRINKAGE), priors=prior)
    lda.fit(x.astype(float), y)
    yield "lda", np.argmax(xt @ lda.coef_.T + lda.intercept_ - np.log(prior), 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("features")
    p.add_argument("--targets")
    p.add_argument("--hidden", type=int, default=1000)
    p.add_argument("--rule", default="code")
    p.add_argument("--tasks", default="10")
    p.add_argument("--threads", default="0")
    p.add_argument("--heads", default=",".join(HEADS))
    a = p.parse_args()
    with np.load(a.features) as data:
        x, xt = (data[n].astype(np.float32) for n in ("x_train", "x_test"))
        y, yt = (data[n].astype(int) for n in ("y_train", "y_test"))
    targets = np.load(a.targets)["embeddings"].astype(float) if a.targets else None
    names = a.heads.split(",") + (["regression"] if a.targets else [])
    with tempfile.TemporaryDirectory() as work:
        command = [a.program, "evaluate", "--features", a.features, "--head", ",".join(names), "--arithmetic", "float",
                   "--weights", "bipolar", "--hidden", str(a.hidden), "--lambda", a.rule, "--shrinkage", str(SHRINKAGE),
                   "--tasks", a.tasks, "--threads", a.threads, "--json", "--out", work]
        out = subprocess.run(command + (["--targets", a.targets] if a.targets else []), check=True,
                             capture_output=True, text=True).stdout
    runs = {h["head"]: h["runs"][0] for h in json.loads(out)["heads"]}
    ours = {name: np.array(run["predictions"]) for name, run in runs.items()}
    lambdas = {name: run["tasks"][-1]["lambda"] for name, run in runs.items()}
    failed = 0

    def compare(name, whose, theirs):
        nonlocal failed
        same, right, reference = (100 * np.mean(v) for v in (ours[name] == theirs, ours[name] == yt, theirs == yt))
        good = same >= 99 and abs(right - reference) <= 0.2 + 1e-9
        failed += not good
        print(f"{'ok   ' if good else 'MISS '} {name:14} {right:6.2f} %   {whose} {reference:6.2f} %   same answers {same:6.2f} %",
              flush=True)

    classes = int(y.max()) + 1
    for name, theirs in definitions(x, y, xt, classes, a.hidden, lambdas, targets):
        compare(name, "numpy  ", theirs)
    try:
        for name, theirs in from_sklearn(x, y, xt, classes, lambdas):
            compare(name, "sklearn", theirs)
    except ImportError:
        print("SKIPPED: scikit-learn is not installed; its comparisons were not made")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
