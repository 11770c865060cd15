"""The desk that bundles for another machine come from: two classes learned, a key, packages and bundles of them."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess

from machine import PORT
from model_home import stamp
from tiny_onnx import png, tiny_onnx

SETTINGS = f"source = test://\nhttp = {PORT}\n"
PHOTOS = {"banana": "food/fruit/banana.png", "duck": "household/rubberduck.png"}
OTHER_MODEL = "tiny"


def asked():
    """The words of a trial: this machine's engram, its folders, the package to bundle and the system to bring it to."""
    options = argparse.ArgumentParser()
    options.add_argument("engram")
    options.add_argument("build")
    options.add_argument("source")
    options.add_argument("--package", required=True)
    options.add_argument("--root", required=True)
    return options.parse_args()


class Desk:
    """Bundles in `folder`: site.egb, next.egb (a later version of the program), model.egb (another model)."""

    def __init__(self, program, home, package, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.home = shutil.copytree(home, self.folder / "home")  # the key is this desk's alone
        self.settings = self.file("camera.conf", SETTINGS)
        self.learned = {}
        for label, photo in PHOTOS.items():
            self.engram("learn", label, stamp(photo))
            self.learned[label] = 1
        self.add_other_model()
        self.key = self.engram("bundle", "key", "new")["key"]
        newer = self.repacked(package, "next.deb", "Version", lambda version: version + "+next")
        self.versions = [self.field(one, "Version") for one in (package, newer)]
        whole = ["--with-state", self.folder / "state", "--settings", self.settings]
        self.site = self.bundle(package, "site.egb", *whole)
        self.next = self.bundle(newer, "next.egb", *whole)
        self.model = self.bundle(package, "model.egb", "--model", OTHER_MODEL)

    def file(self, name, content):
        content = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def add_other_model(self):
        model = self.file("tiny.onnx", tiny_onnx())
        pictures = self.folder / "pictures"
        pictures.mkdir()
        for number in range(16):  # as many as a model's scale wants
            (pictures / f"{number}.png").write_bytes(png(80, 80, lambda x, y: (3 * x, 3 * y, 15 * number)))
        self.engram("model", "add", model, "--as", OTHER_MODEL, "--preset", "unit", "--pictures", pictures)

    def engram(self, *words):
        environment = dict(os.environ, ENGRAM_HOME=str(self.home), ENGRAM_STATE=str(self.folder / "state"))
        done = subprocess.run([self.program, *map(str, words), "--json"], env=environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout.splitlines()[-1])

    def field(self, package, name):
        asked = subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True, text=True)
        return asked.stdout.strip()

    def repacked(self, package, name, field, change):
        """The same program with another field in its description."""
        tree, control = self.folder / f"{name}.tree", self.folder / f"{name}.tree/DEBIAN/control"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control.write_text(re.sub(rf"(?m)^({field}: )(.*)", lambda found: found[1] + change(found[2]), control.read_text()))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, self.folder / name],
                       check=True, capture_output=True)
        shutil.rmtree(tree)
        return self.folder / name

    def for_another_processor(self, package):
        other = {"amd64": "arm64", "arm64": "amd64"}
        return self.bundle(self.repacked(package, "other.deb", "Architecture", other.get), "other.egb", "--without-model")

    def bundle(self, package, name, *words):
        target = {"amd64": "x86_64", "arm64": "aarch64"}[self.field(package, "Architecture")]
        self.engram("bundle", "build", "--target", target, "--deb", package, *words, "-o", self.folder / name)
        return self.folder / name
