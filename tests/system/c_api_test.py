"""Runs the C program c_api_test.c with a real model and three real photos."""
import os
import subprocess
import sys
import tempfile

program, build, source = (os.path.abspath(argument) for argument in sys.argv[1:4])
sys.path.insert(0, os.path.join(source, "tests", "support"))
from model_home import model_home, stamp  # noqa: E402

PHOTOS = {
    "banana": stamp("food/fruit/banana.png"),
    "Nussschale / 船": stamp("vehicles/ship/walnutBoat.png"),  # any text is a label
    "tool box": stamp("household/tools/toolbox.png"),
}

home = model_home(program, build, source)
with tempfile.TemporaryDirectory() as folder:
    pairs = [f"{label}={photo}" for label, photo in PHOTOS.items()]
    test = os.path.join(build, "tests", "c_api_test")
    sys.exit(subprocess.run([test, home, os.path.join(folder, "state"), *pairs],
                            cwd=folder, timeout=600).returncode)
