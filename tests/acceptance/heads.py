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

HEADS = ["float", "float-bipolar", "none", "pairwise", "ncm", "lda", "rp-lda", "scaled", "balanced"]  # in float
EXACT_HEADS = ["exact", "engram", "probe"]  # in whole numbers, and one that knows no arithmetic
SHRINKAGE = 0.01
HIDDEN_MAX = 31
SAMPLE_SEED = 1  # of the order of learning (engine/protocol.h)


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


def calibration(x):
    """Scale of the features and gain of the hidden units (engine/calibrate.h), rounded to powers of sqrt(2)."""
    def rounded(value):
        return 2 ** (np.round(2 * np.log2(value)) / 2)
    scale = rounded(127 / np.quantile(np.abs(x), 0.999))
    deviation = np.sqrt((quantised(x, scale) ** 2).sum(1).mean())
    return np.float32(scale), int(np.clip(np.round(rounded(65536 * HIDDEN_MAX / (3 * deviation))), 1, 65536))


def quantised(x, scale):
    return np.clip(np.round(x.astype(np.float32) * np.float32(scale)), -127, 127).astype(float)


def activated(p, gain):
    return np.minimum(HIDDEN_MAX, np.maximum(p, 0) * gain >> 16)


def blend(h, f):
    """Scores of `engram` (engine/score_blend.h): ridge on hidden units h, and class means of the features f."""
    def scores(strength):
        even = np.sqrt(len(h.y) / len(h.n) / h.n)
        usual = np.sqrt((f.n * (f.means ** 2).sum(0)).sum() / len(f.y))
        directions = unit(f.means.T).T
        directions = directions - directions.mean(1, keepdims=True)
        ridge_part = h.xt @ h.readout(h.target, strength) * even
        return ridge_part + 2 * (1 / h.n).mean() / usual * (f.xt @ directions)
    return scores


def exact_definitions(x, y, xt, classes, hidden, lambdas, scale, gain):
    """The same of the heads in whole numbers."""
    if "exact" not in lambdas and "engram" not in lambdas:
        return
    q, qt = quantised(x, scale), quantised(xt, scale)
    w = weights("bipolar", x.shape[1], hidden, 1).astype(float)  # double holds these sums exactly, and is fast
    h = Problem(activated((q @ w).astype(np.int64), gain), y, activated((qt @ w).astype(np.int64), gain), classes)
    if "exact" in lambdas:
        yield "exact", h.answers(h.readout(h.target, lambdas["exact"]))
    if "engram" in lambdas:
        yield "engram", np.argmax(blend(h, Problem(q, y, qt, classes))(lambdas["engram"]), 1)


def linear_probe(x, y, xt, class_order):
    """SGD on sigma cos(f, w) and cross entropy with the authors' settings (engine/linear_probe.h), in double."""
    order = np.concatenate([np.flatnonzero(y == k) for k in class_order])
    order = order[np.random.RandomState(SAMPLE_SEED).permutation(len(order))]  # as they were learned
    seen = list(dict.fromkeys(y[order]))  # classes by their first sample
    x, y = unit(x[order].astype(float)), np.array([seen.index(k) for k in y[order]])
    random = np.random.RandomState(1)
    w = (2 * random.random_sample((len(seen), x.shape[1])) - 1) / np.sqrt(x.shape[1])
    sigma, speed, sigma_speed = 1.0, np.zeros_like(w), 0.0
    for _ in range(30):
        shuffled = random.permutation(len(y))
        for first in range(0, len(y), 128):
            batch = shuffled[first:first + 128]
            lengths = np.linalg.norm(w, axis=1, keepdims=True)
            cosines = x[batch] @ (w / lengths).T
            share = np.exp(sigma * (cosines - cosines.max(1, keepdims=True)))
            slope = (share / share.sum(1, keepdims=True) - np.eye(len(seen))[y[batch]]) / len(batch)
            down = sigma * slope.T @ x[batch]
            down = (down - (down * w / lengths).sum(1, keepdims=True) * w / lengths) / lengths
            speed = 0.9 * speed + down + 5e-4 * w
            sigma_speed = 0.9 * sigma_speed + (slope * cosines).sum() + 5e-4 * sigma
            w, sigma = w - 0.01 * speed, sigma - 0.01 * sigma_speed
    return np.array(seen)[np.argmax(unit(xt.astype(float)) @ unit(w).T, 1)]


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
        if not {name, *([] if kind == "gaussian" else ["scaled", "balanced", "rp-lda", "regression"])} & set(lambdas):
            continue
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
    p.add_argument("--heads", default=",".join(HEADS + EXACT_HEADS))
    a = p.parse_args()
    with np.load(a.features) as data:
        x, xt = (data[n].astype(np.float32) for n in ("x_train", "x_test"))
        y, yt = (data[n].astype(int) for n in ("y_train", "y_test"))
    targets = np.load(a.targets)["embeddings"].astype(float) if a.targets else None
    names = a.heads.split(",") + (["regression"] if a.targets else [])
    scale, gain = calibration(x)
    runs = {}

    def evaluate(heads, *words):
        if not heads:
            return
        with tempfile.TemporaryDirectory() as work:
            out = subprocess.run([a.program, "evaluate", "--features", a.features, "--head", ",".join(heads), "--hidden",
                                  str(a.hidden), "--lambda", a.rule, "--tasks", a.tasks,
                                  "--threads", a.threads, "--json", "--out", work, *words],
                                 check=True, capture_output=True, text=True).stdout
        runs.update({h["head"]: h["runs"][0] for h in json.loads(out)["heads"]})

    evaluate([n for n in names if n not in EXACT_HEADS], "--arithmetic", "float", "--weights", "bipolar", "--shrinkage",
             str(SHRINKAGE), *(["--targets", a.targets] if a.targets else []))
    evaluate([n for n in names if n in EXACT_HEADS], "--feature-scale", repr(float(scale)), "--hidden-mul", str(gain))
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
    for name, theirs in exact_definitions(x, y, xt, classes, a.hidden, lambdas, scale, gain):
        compare(name, "numpy  ", theirs)
    if "probe" in runs:
        compare("probe", "numpy  ", linear_probe(x, y, xt, runs["probe"]["class_order"]))
    try:
        for name, theirs in from_sklearn(x, y, xt, classes, lambdas):
            compare(name, "sklearn", theirs)
    except ImportError:
        print("SKIPPED: scikit-learn is not installed; its comparisons were not made")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
