"""RanPAC's Phase 2 in numpy, written from the paper alone: the yardstick for accuracy, time and memory.

Shares no code with Engram. The projection is Engram's, from its published recipe (engine/projection.h:
Philox4x32-10 by counter), so that both judge the same random numbers.

Usage: ridge_numpy.py TRAIN TEST --hidden 2000 --weights gaussian [--tasks 10] [--rule paper]
  TRAIN, TEST: prefixes written by `engram features` (PREFIX_x.npy, PREFIX_y.npy).
Prints one JSON object: A_T, top-1, lambdas, seconds, peak memory in MB.
"""
import argparse
import json
import resource
import time

import numpy as np


def philox(counter, key):
    """counter: four uint32 arrays of one shape; returns four uint32 arrays."""
    c = [np.asarray(x, np.uint64) for x in counter]
    low = np.uint64(0xFFFFFFFF)
    k0, k1 = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return c


def weights(kind, features, hidden, seed):
    if kind == "bipolar":
        rows = (features + 31) // 32
        m, k = np.meshgrid(np.arange((hidden + 3) // 4), np.arange(rows))
        words = np.stack(philox((m, k, 0 * m, 0 * m), seed), axis=-1).reshape(rows, -1)[:, :hidden]
        bits = words[:, None, :] >> np.arange(32, dtype=np.uint64)[None, :, None] & np.uint64(1)
        return (bits.reshape(-1, hidden)[:features].astype(np.float32) * 2 - 1)
    m, l = np.meshgrid(np.arange((hidden + 1) // 2), np.arange(features))
    c = philox((m, l, 0 * m, 0 * m + 1), seed)
    u = (((c[1] << np.uint64(32) | c[0]) >> np.uint64(11)).astype(float) + 1) * 2.0 ** -53
    v = ((c[3] << np.uint64(32) | c[2]) >> np.uint64(11)).astype(float) * 2.0 ** -53
    r = np.sqrt(-2 * np.log(u))
    pairs = np.stack((r * np.cos(2 * np.pi * v), r * np.sin(2 * np.pi * v)), axis=-1)
    return pairs.reshape(features, -1)[:, :hidden].astype(np.float32)


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
    gram, sums = np.zeros((size, size), np.float32), np.zeros((size, classes), np.float32)
    bounds = np.cumsum([0] + [len(p) for p in np.array_split(np.arange(classes), a.tasks)])
    shuffle = np.random.RandomState(1)
    lambdas = []
    for first, last in zip(bounds, bounds[1:]):
        rows = np.flatnonzero((y >= first) & (y < last))
        rows = rows[shuffle.permutation(len(rows))]
        h, target = hide(x[rows]), np.eye(classes, dtype=np.float32)[y[rows]]
        cut = int(0.8 * len(rows))
        part_gram, part_sums = h[:cut].T @ h[:cut], h[:cut].T @ target[:cut]
        if a.rule == "paper":
            part_gram += gram
            part_sums += sums
        losses = [np.square(h[cut:] @ solve(part_gram, part_sums, 10.0 ** e) - target[cut:]).mean()
                  for e in range(-8, 9)]
        lambdas.append(10.0 ** (int(np.nanargmin(losses)) - 8))
        gram += h.T @ h
        sums += h.T @ target
        readout = solve(gram, sums, lambdas[-1])
    answers = np.argmax(hide(xt) @ readout, 1)
    per_task = [np.mean(answers[(yt >= f) & (yt < l)] == yt[(yt >= f) & (yt < l)])
                for f, l in zip(bounds, bounds[1:])]
    return 100 * float(np.mean(per_task)), 100 * float(np.mean(answers == yt)), lambdas


def load(prefix):
    return np.load(prefix + "_x.npy"), np.load(prefix + "_y.npy")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("train"), p.add_argument("test")
    p.add_argument("--hidden", type=int, default=2000)
    p.add_argument("--weights", choices=["gaussian", "bipolar"], default="gaussian")
    p.add_argument("--rule", choices=["paper", "code"], default="paper")
    p.add_argument("--tasks", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--class-seed", type=int, default=1993)
    a = p.parse_args()
    (x, y), (xt, yt) = load(a.train), load(a.test)
    start = time.time()
    average, top1, lambdas = run(x, y, xt, yt, a)
    print(json.dumps({"average_accuracy": average, "top1": top1, "lambdas": lambdas,
                      "seconds": time.time() - start,
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
