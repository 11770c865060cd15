"""RanPAC's Phase 2 in numpy, written from the paper alone: the yardstick for accuracy, time and memory.

Usage: ridge_numpy.py FEATURES.npz --hidden 2000 --weights gaussian [--tasks 10] [--rule paper|code|NUMBER] [--form gram|kernel]
  FEATURES.npz: x_train (N, L), y_train (N), x_test, y_test; labels 0..K-1.
  form: by G (M, M), as the authors do, or the same answers by the kernel H HT (N, N); without it the smaller one.
Prints one JSON object: A_T, top-1, lambdas, seconds, peak memory in MB.
"""
import argparse
import json
import resource
import time

import numpy as np
from projection import split_order, weights


def solve(gram, sums, ridge):
    a = gram.copy()
    a.flat[::len(a) + 1] += ridge
    return np.linalg.solve(a, sums)


def run(x, y, xt, yt, a):
    classes = int(y.max()) + 1
    order = np.random.RandomState(a.class_seed).permutation(classes)
    place = np.argsort(order)
    y, yt = place[y], place[yt]
    w = weights(a.weights, x.shape[1], a.hidden, a.seed) if a.hidden else None
    hide = lambda f: np.maximum(f @ w, 0) if a.hidden else f
    size = a.hidden or x.shape[1]
    by_kernel = a.form == "kernel" or not a.form and len(y) < size
    learned = (ByKernel if by_kernel else ByGram)(size, classes)
    bounds = np.cumsum([0] + [len(p) for p in np.array_split(np.arange(classes), a.tasks)])
    shuffle = np.random.RandomState(1)
    lambdas = []
    for task, (first, last) in enumerate(zip(bounds, bounds[1:])):
        rows = np.concatenate([np.flatnonzero(y == k) for k in range(first, last)])
        rows = rows[shuffle.permutation(len(rows))]
        h, target = hide(x[rows]), np.eye(classes, dtype=np.float32)[y[rows]]
        order = split_order(len(rows), 1, task)
        lambdas.append(choose(learned, h, target, order, a.rule) if a.rule in ("paper", "code") else float(a.rule))
        learned.add(h, target)
        readout = learned.readout(lambdas[-1])
    answers = np.argmax(hide(xt) @ readout, 1)
    per_task = [np.mean(answers[(yt >= f) & (yt < l)] == yt[(yt >= f) & (yt < l)])
                for f, l in zip(bounds, bounds[1:])]
    return 100 * float(np.mean(per_task)), 100 * float(np.mean(answers == yt)), lambdas


class ByGram:
    """G and C of what was learned."""

    def __init__(self, size, classes):
        self.gram, self.sums = np.zeros((size, size), np.float32), np.zeros((size, classes), np.float32)

    def add(self, h, target):
        self.gram += h.T @ h
        self.sums += h.T @ target

    def readout(self, ridge):
        return solve(self.gram, self.sums, ridge)

    def with_part(self, h, target, with_past):
        part = ByGram(0, 0)
        part.gram, part.sums = h.T @ h, h.T @ target
        if with_past:
            part.gram += self.gram
            part.sums += self.sums
        return part

    def largest(self, start):
        """About the largest eigenvalue of G."""
        for _ in range(3):
            start = self.gram @ (start / np.linalg.norm(start))
        return np.linalg.norm(start)

    def scores(self, h, ridge):
        return h @ self.readout(ridge)


class ByKernel:
    """The same from the samples themselves: (G + ridge I)^-1 C = HT (H HT + ridge I)^-1 Y."""

    def __init__(self, size, classes):
        self.h, self.target = np.zeros((0, size), np.float32), np.zeros((0, classes), np.float32)
        self.kernel = np.zeros((0, 0), np.float32)
        self.products = None

    def add(self, h, target):
        cross, own = h @ self.h.T, h @ h.T
        self.kernel = np.block([[self.kernel, cross.T], [cross, own]])
        self.h, self.target = np.concatenate((self.h, h)), np.concatenate((self.target, target))

    def readout(self, ridge):
        return self.h.T @ solve(self.kernel, self.target, ridge)

    def with_part(self, h, target, with_past):
        part = ByKernel(h.shape[1], target.shape[1])
        if with_past:
            part.h, part.target, part.kernel = self.h, self.target, self.kernel
        part.add(h, target)
        return part

    def largest(self, start):
        for _ in range(3):
            start = self.h.T @ (self.h @ (start / np.linalg.norm(start)))
        return np.linalg.norm(start)

    def scores(self, h, ridge):
        if self.products is None:
            self.products = h @ self.h.T
        return self.products @ solve(self.kernel, self.target, ridge)


def choose(past, h, target, order, rule):
    cut = int(0.8 * len(order))
    learned, held = order[:cut], order[cut:]
    part = past.with_part(h[learned], target[learned], rule == "paper")
    # Below 1e-6 of the largest eigenvalue a float solution is noise, and noise must not win.
    floor = 1e-6 * part.largest(h.sum(0))
    losses = [np.square(part.scores(h[held], 10.0 ** e) - target[held]).mean()
              if 10.0 ** e >= floor else np.nan for e in range(-8, 9)]
    return 10.0 ** (int(np.nanargmin(losses)) - 8)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("features")
    p.add_argument("--hidden", type=int, default=2000)
    p.add_argument("--weights", choices=["gaussian", "bipolar"], default="gaussian")
    p.add_argument("--rule", default="paper")
    p.add_argument("--form", choices=["gram", "kernel"])
    p.add_argument("--tasks", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--class-seed", type=int, default=1993)
    a = p.parse_args()
    with np.load(a.features) as data:
        x, xt = (data[n].astype(np.float32) for n in ("x_train", "x_test"))
        y, yt = (data[n].astype(int) for n in ("y_train", "y_test"))
    start = time.time()
    average, top1, lambdas = run(x, y, xt, yt, a)
    print(json.dumps({"average_accuracy": average, "top1": top1, "lambdas": lambdas,
                      "seconds": time.time() - start,
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
