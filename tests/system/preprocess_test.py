"""Decoding and preprocessing against Pillow, on real photographs, to the bit.

Usage: preprocess_test.py <program> <build folder> <source folder>. Exits 77 when Pillow is missing.
Photographs: Debian's tuxpaint-stamps-default, saved in many ways by Pillow; and the development
data beside the source folder (or in ENGRAM_SHARED) when it is there.
"""
import array
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

try:
    from PIL import Image, ImageChops, ImageOps
except ImportError:
    print("SKIPPED: Pillow is not installed in", sys.executable)
    sys.exit(77)

BUILD, SOURCE = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
DUMP = BUILD / "tests" / "preprocess_dump"
STAMPS = pathlib.Path(os.environ.get("ENGRAM_STAMPS", "/usr/share/tuxpaint/stamps"))
SHARED = pathlib.Path(os.environ.get("ENGRAM_SHARED", SOURCE.parent / "shared"))
SPECS = [(256, 224, "shorter", "bicubic"), (240, 240, "squash", "bicubic"), (280, 240, "shorter", "bicubic"),
         (471, 471, "shorter", "bicubic"), (224, 224, "squash", "bilinear"), (73, 60, "shorter", "bilinear")]
FILTERS = {"bicubic": Image.BICUBIC, "bilinear": Image.BILINEAR}
CROP, SHORTER = 96, 150  # of random crops, and of pictures as training keeps them


def stamps(count):
    """Every few of the package's photographs."""
    found = sorted(p for folder in ("animals", "food", "household", "plants", "vehicles")
                   for p in (STAMPS / folder).rglob("*.png") if "cartoon" not in p.parts)
    return found[:: max(1, len(found) // count)]


def on_white(image):
    image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")


def write_kinds(folder):
    """The photographs in every kind of file that people bring."""
    for number, path in enumerate(stamps(16)):
        photo = on_white(Image.open(path))
        # Large and small: stamps are small, cameras' pictures are not.
        photo = photo.resize((300 + 110 * number, 200 + 90 * (number * 7 % 16)), Image.LANCZOS)
        exif = Image.Exif()
        exif[0x0112] = number % 8 + 1
        name = f"{number:02d}"
        photo.save(folder / f"{name}.jpg", quality=90, subsampling=number % 3, exif=exif,
                   progressive=bool(number % 2))
        photo.convert("L").save(folder / f"{name}_grey.jpg", quality=80)
        if number < 6:
            photo.convert("CMYK").save(folder / f"{name}_cmyk.jpg", quality=95)
            photo.save(folder / f"{name}.png")
            photo.quantize(64).save(folder / f"{name}_palette.png")
            photo.convert("1").save(folder / f"{name}_1bit.png")
    for size in ((1, 700), (900, 1), (1, 1), (5, 3)):
        photo.resize(size).save(folder / f"{size[0]}x{size[1]}.png")


def resized(image, size, method):
    """Across, then down: the order of every Pillow before 13, which is what backbones were trained
    with. Pillow 13 goes down first when the picture is tall."""
    return image.resize((size[0], image.height), method).resize(size, method)


def reference(image, resize, crop, mode, method):
    """torchvision's Resize and CenterCrop in Pillow's words."""
    width, height = image.size
    if mode == "squash":
        size = (resize, resize)
    elif width <= height:
        size = (resize, int(resize * height / width))
    else:
        size = (int(resize * width / height), resize)
    left, top = (int(round((side - crop) / 2.0)) for side in size)
    if max(size) > 50_000:  # a line of pixels: whole, it would be gigabytes
        return None
    return resized(image, size, FILTERS[method]).crop((left, top, left + crop, top + crop))


def run(files, resize, crop, mode, method="-"):
    done = subprocess.run([DUMP, str(resize), str(crop), mode, method], check=True, stdout=subprocess.PIPE,
                          input="".join(f"{f}\n" for f in files).encode())
    return io.BytesIO(done.stdout)


def largest(ours, theirs):
    return max(high for _, high in ImageChops.difference(ours, theirs).getextrema())


def read_picture(output):
    width, height = array.array("i", output.read(8))
    return Image.frombytes("RGB", (width, height), output.read(3 * width * height))


def read_tensor(output, crop):
    planes = [Image.frombytes("F", (crop, crop), output.read(4 * crop * crop)).convert("L") for _ in "RGB"]
    return Image.merge("RGB", planes)


def compare_decoding(files):
    worst = {}
    output = run(files, 0, 0, "shorter")
    for file in files:
        ours = read_picture(output)
        theirs = on_white(Image.open(file))
        assert ours.size == theirs.size, (file, ours.size, theirs.size)
        kind = "png" if file.suffix == ".png" else "cmyk" if "cmyk" in file.name else "jpeg"
        worst[kind] = max(worst.get(kind, 0), largest(ours, theirs))
    return worst


def compare_preprocessing(files):
    """The tensors of our pixels against Pillow's of the same pixels: resampling alone."""
    compared = unequal = worst = 0
    for resize, crop, mode, method in SPECS:
        output, pixels = run(files, resize, crop, mode, method), run(files, 0, 0, mode)
        for file in files:
            picture, ours = read_picture(pixels), read_tensor(output, crop)
            wanted = reference(picture, resize, crop, mode, method)
            if wanted is None:
                continue
            difference = ImageChops.difference(ours, wanted)
            compared += 3 * crop * crop
            here = sum(sum(band.histogram()[1:]) for band in difference.split())
            if here:
                print(f"{file}: {picture.size}, {resize} {crop} {mode} {method}: {here} values differ")
            unequal += here
            worst = max(worst, max(high for _, high in difference.getextrema()))
    return compared, unequal, worst


def compare_training(files):
    """Random crops, mirrored or not, and pictures made smaller: how many differ from Pillow's."""
    unequal, boxes = 0, set()
    for epoch in (0, 1, 2):
        output, pixels = run(files, epoch, CROP, "random"), run(files, 0, 0, "shorter")
        for file in files:
            picture = read_picture(pixels)
            left, top, width, height, mirrored = box = tuple(array.array("i", output.read(20)))
            ours = read_tensor(output, CROP)
            wanted = resized(picture.crop((left, top, left + width, top + height)), (CROP, CROP), Image.BILINEAR)
            if mirrored:
                wanted = ImageOps.mirror(wanted)
            boxes.add((epoch, *box))
            if ours.tobytes() != wanted.tobytes():
                unequal += 1
                print(f"{file}: {picture.size}, box {box} of epoch {epoch} differs")
    output, pixels = run(files, SHORTER, 0, "bounded"), run(files, 0, 0, "shorter")
    for file in files:
        picture, ours = read_picture(pixels), read_picture(output)
        side = min(picture.size)
        size = tuple(n if side <= SHORTER else n * SHORTER // side for n in picture.size)
        wanted = picture if size == picture.size else resized(picture, size, Image.BILINEAR)
        if ours.size != wanted.size or ours.tobytes() != wanted.tobytes():
            unequal += 1
            print(f"{file}: {picture.size}, made smaller to {ours.size}, differs")
    mirrors = sum(box[-1] for box in boxes)
    assert 0 < mirrors < len(boxes) and len(boxes) > 2 * len(files), (mirrors, len(boxes))
    return unequal


def main():
    if not STAMPS.is_dir():
        print("SKIPPED: no photographs; apt-get install tuxpaint-stamps-default")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_kinds(folder)
        files = sorted(folder.iterdir()) + stamps(20)
        tar = SHARED / "data" / "caltech101-dev.tar"
        if tar.exists():
            with tarfile.open(tar) as archive:
                photos = [m for m in archive.getmembers() if m.name.endswith((".jpg", ".png"))]
                for number, member in enumerate(photos[::80]):
                    path = folder / f"dev_{number}{pathlib.Path(member.name).suffix}"
                    path.write_bytes(archive.extractfile(member).read())
                    files.append(path)
        decoding = compare_decoding(files)
        compared, unequal, worst = compare_preprocessing(files)
        trained = compare_training(files)
    print(f"decoded {len(files)} pictures; largest difference from Pillow, of 255: {decoding}")
    print(f"preprocessed, {len(SPECS)} ways: {compared} values, {unequal} unequal, largest {worst}")
    print(f"random crops of 3 epochs, and pictures made smaller: {trained} differ")
    # Another libjpeg may round one step differently; resampling is ours and is exact.
    return int(max(decoding.values()) > 1 or unequal > 0 or trained > 0)


sys.exit(main())
