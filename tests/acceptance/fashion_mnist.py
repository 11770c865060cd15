"""Fashion-MNIST as folders of PNG files: clothes of 28 x 28 grey pixels, far from what photos look like, and anyone can get them.

Usage: fashion_mnist.py OUT [--train 200] [--test 50] [--source DIR]
  OUT/{train,test}/<class>/: the first pictures of each class in the files' order.
  source: a folder with train-images-idx3-ubyte.gz and the three others (Debian's package dataset-fashion-mnist).
Needs nothing but the standard library.
"""
import argparse
import gzip
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from tiny_onnx import png  # noqa: E402

CLASSES = ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle-boot"]
SIDE = 28
SOURCE = "/usr/share/datasets/fashion-mnist"


def read_idx(file, header):
    return gzip.decompress(file.read_bytes())[header:]


def write_part(source, part, out, most):
    pixels = read_idx(source / f"{part}-images-idx3-ubyte.gz", 16)
    labels = read_idx(source / f"{part}-labels-idx1-ubyte.gz", 8)
    counts = [0] * len(CLASSES)
    for number, label in enumerate(labels):
        if counts[label] == most:
            continue
        counts[label] += 1
        folder = out / CLASSES[label]
        folder.mkdir(parents=True, exist_ok=True)
        at = number * SIDE * SIDE
        (folder / f"{number:05}.png").write_bytes(png(SIDE, SIDE, lambda x, y: (pixels[at + y * SIDE + x],) * 3))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--train", type=int, default=200), p.add_argument("--test", type=int, default=50)
    p.add_argument("--source", type=pathlib.Path, default=SOURCE)
    a = p.parse_args()
    if not (a.source / "train-images-idx3-ubyte.gz").exists():
        sys.exit(f"fashion_mnist: nothing in {a.source}: apt-get install dataset-fashion-mnist, or say --source")
    write_part(a.source, "train", a.out / "train", a.train)
    write_part(a.source, "t10k", a.out / "test", a.test)


if __name__ == "__main__":
    main()
