"""Phase 1 beside PyTorch: the same gradients, the same step, the same loss curve, and the time of a step.

Usage: phase1_torch.py ADAPT_DUMP [--vit MODEL.onnx --pictures PICTURES.npy] [--speed] [--threads 1,2] [--methods ssf,...]
  ADAPT_DUMP: build/tests/adapt_dump. Without --vit a small ViT with random weights, exported by PyTorch itself.
  --vit: the encoder of `engram model add dinov2-vits14` (needs onnx); --pictures: (N, 3, side, side) floats, N >= 8.
For each method it lets both sides start from our parameters and compares features, gradients, parameters and losses over
three epochs of two batches. PyTorch's side is in double: its own float differs from it by up to 2e-4 in parameters that are
still near zero (the biases of the down-projections), more than ours does. --speed: instead the seconds of a step on four
pictures in float, with each count of --threads, taken in turns: medians of six steps each, the first of every turn left out on both
sides. Debian's PyTorch has threads of its own and OpenBLAS those of another pool: of the ways to share the count among
them, PyTorch gets the fastest.
Exits 1 if a difference exceeds its bound or ours is slower. Needs torch (Debian: python3-torch).
"""
import argparse
import ctypes
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

import vit_torch

METHODS = ["adaptformer", "ssf", "vpt"]
BOUND = 1e-4  # relative to the largest of a tensor
TURNS, STEPS = 3, 2  # of the comparison of time


def or_endless(error):
    """NaN as infinity: Python's max() passes over a NaN that is not the first."""
    return math.inf if math.isnan(error) else error


def difference(ours, theirs):
    theirs = theirs.detach().numpy().reshape(ours.shape)
    return or_endless(float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12)))


class Ours:
    """A run of adapt_dump: what it wrote, by name."""

    def __init__(self, program, onnx, image, method, work, pictures, labels, batch, epochs, threads):
        work = pathlib.Path(work)
        np.save(work / "pictures.npy", pictures.astype(np.float32).reshape(len(pictures), -1))
        np.save(work / "labels.npy", labels.astype(np.int32))
        done = subprocess.run([program, onnx, "features", str(image), method, work, str(batch), str(epochs), str(threads)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"adapt_dump failed: {done.stderr}")
        lines = [line.split() for line in done.stdout.splitlines()]
        self.slices = {w[1]: (int(w[2]), int(w[3]), int(w[4])) for w in lines if w[0] == "slice"}
        self.losses = [float(w[1]) for w in lines if w[0] == "loss"]
        self.seconds = [float(w[1]) for w in lines if w[0] == "seconds"]
        self.order = [int(i) for w in lines if w[0] == "order" for i in w[1:]]
        load = lambda name: np.load(work / f"{name}.npy").reshape(-1)
        self.start, self.gradient, self.end = load("start"), load("gradient"), load("end")
        self.features = np.load(work / "features.npy")

    def named(self, flat):
        return {name: flat[at:at + rows * cols].reshape(rows, cols) for name, (rows, cols, at) in self.slices.items()}


def leaves(named, kind=np.float32):
    return {name: torch.from_numpy(value.astype(kind)).requires_grad_() for name, value in named.items()}


def in_double(weights):
    if isinstance(weights, torch.Tensor):
        return weights.double()
    if isinstance(weights, dict):
        return {name: in_double(value) for name, value in weights.items()}
    return type(weights)(in_double(value) for value in weights)


def compare(ours, model, method, pictures, labels, batch, epochs, check):
    model = {**model, "weights": in_double(model["weights"])}
    x, y = torch.from_numpy(pictures.astype(np.float64)), torch.from_numpy(labels.astype(np.int64))
    vit = vit_torch.Vit(model, method, leaves(ours.named(ours.start), np.float64))
    check(difference(ours.features, vit(x)), "features")
    vit_torch.loss_of(vit, x, y).backward()
    gradients = ours.named(ours.gradient)
    worst = max(gradients, key=lambda name: difference(gradients[name], vit.parameters_of_method[name].grad))
    check(difference(gradients[worst], vit.parameters_of_method[worst].grad), f"gradients ({worst} is the worst of {len(gradients)})")
    vit = vit_torch.Vit(model, method, leaves(ours.named(ours.start), np.float64))
    steps = len(labels) // batch
    orders = np.array(ours.order).reshape(epochs, steps, batch)
    curve = list(vit_torch.train(vit, [[(x[c], y[c]) for c in order] for order in orders]))
    if len(ours.losses) != len(curve):  # zip() would leave out what one side lacks
        sys.exit(f"adapt_dump told {len(ours.losses)} losses where PyTorch has {len(curve)}")
    check(max(or_endless(abs(a - b) / b) for a, b in zip(ours.losses, curve)), f"losses of {epochs} epochs (to {curve[-1]:.4f})")
    ends = ours.named(ours.end)
    worst = max(ends, key=lambda name: difference(ends[name], vit.parameters_of_method[name]))
    check(difference(ends[worst], vit.parameters_of_method[worst]), f"parameters after {epochs * steps} steps ({worst})")


def set_threads_of_torch(own, of_blas):
    torch.set_num_threads(own)
    for library in {line.split()[-1] for line in open("/proc/self/maps") if "blas" in line}:
        ctypes.CDLL(library).openblas_set_num_threads(of_blas)


def speed(program, onnx, model, method, pictures, labels, threads, check):
    x, y = torch.from_numpy(pictures), torch.from_numpy(labels.astype(np.int64))
    ours, theirs = [], {shares: [] for shares in {(threads, threads), (threads, 1), (1, threads)}}
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as work:
            run = Ours(program, onnx, model["image"], method, work, pictures, labels, len(labels), STEPS + 1, threads)
        ours += run.seconds[1:]
        for shares, seconds in theirs.items():
            set_threads_of_torch(*shares)
            vit, marks = vit_torch.Vit(model, method, leaves(run.named(run.start))), [time.perf_counter()]
            for _ in vit_torch.train(vit, [[(x, y)]] * (STEPS + 1)):
                marks.append(time.perf_counter())
            seconds += list(np.diff(marks))[1:]
    own, of_blas = best = min(theirs, key=lambda shares: np.median(theirs[shares]))
    print(f"      {method}, threads {threads}: {np.median(ours):.2f} s a step of {len(labels)} pictures, PyTorch {np.median(theirs[best]):.2f} s"
          f" (with {own} of its own and {of_blas} of OpenBLAS)", flush=True)
    check(np.median(ours) / np.median(theirs[best]), f"time of a step over PyTorch's, threads {threads}", bound=1.0)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program"), p.add_argument("--vit"), p.add_argument("--pictures")
    p.add_argument("--speed", action="store_true"), p.add_argument("--threads", default="1,2")
    p.add_argument("--methods", default=",".join(METHODS))
    a = p.parse_args()
    threads = [int(n) for n in a.threads.split(",")]
    failures = []

    def check(value, sentence, bound=BOUND):
        print(("ok    " if value <= bound else "MISS  ") + f"{method}: {sentence}: {value:.2g} (at most {bound:g})", flush=True)
        if not value <= bound:
            failures.append(sentence)

    with tempfile.TemporaryDirectory() as work:
        if a.vit:
            model, onnx = vit_torch.from_onnx(a.vit), a.vit
            pictures = np.load(a.pictures).astype(np.float32)[:16]
        else:
            model, onnx = vit_torch.random_weights(), f"{work}/small.onnx"
            pictures = np.random.RandomState(1).randn(8, 3, model["image"], model["image"]).astype(np.float32)
            torch.onnx.export(vit_torch.Vit(model), torch.from_numpy(pictures[:1]), onnx, opset_version=14, input_names=["image"],
                              output_names=["features"], dynamic_axes={"image": {0: "batch"}, "features": {0: "batch"}})
        labels = np.arange(len(pictures)) % 4
        for method in a.methods.split(","):
            if a.speed:
                for count in threads:
                    speed(a.program, onnx, model, method, pictures[:4], labels[:4], count, check)
                continue
            ours = Ours(a.program, onnx, model["image"], method, work, pictures, labels, len(labels) // 2, 3, threads[-1])
            compare(ours, model, method, pictures, labels, len(labels) // 2, 3, check)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
