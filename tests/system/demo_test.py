"""The demo with the real backbone: twelve objects learned one at a time, and the first still known.

Usage: demo_test.py <engram> <build folder> <source folder>. Skips (77) without the checkpoint or
the photos.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

program, build, source = sys.argv[1:4]
sys.path.insert(0, os.path.join(source, "tests", "support"))
from model_home import model_home, stamp  # noqa: E402

os.environ["ENGRAM_HOME"] = model_home(program, build, source)
stamp("food/fruit/banana.png")


def demo(*words):
    done = subprocess.run([program, "demo", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr, "colours without a terminal"
    return done


with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)
    os.environ["TMPDIR"] = folder
    answer = json.loads(demo("--json", "--out", str(out / "a")).stdout)
    assert answer["objects"] == len(answer["rounds"]) == 12
    assert len({r["object"] for r in answer["rounds"]}) == 12
    assert [r["asked"] for r in answer["rounds"]] == [10 * n for n in range(1, 13)]
    assert answer["accuracy"] >= 90, answer
    assert answer["first_object_right"] >= 9, answer
    svg = xml.etree.ElementTree.parse(out / "a/demo.svg").getroot()
    assert len(svg.findall("{http://www.w3.org/2000/svg}polyline")) == 2
    assert (out / "a/demo.png").read_bytes().startswith(b"\x89PNG")
    assert not list(out.glob("engram-*")), "the temporary state was left behind"

    # The same seed: the same statistics to the bit. Fewer objects, for time.
    few = ["--objects", "3", "--frames", "3", "--views", "2", "--json", "--out", str(out / "b")]
    digests = [json.loads(demo(*few, *more).stdout)["digest"]
               for more in ([], ["--threads", "1"], ["--seed", "2"])]
    assert digests[0] == digests[1] != digests[2], digests

    (out / "file").write_text("x")  # where pictures cannot go is told before the work
    done = subprocess.run([program, "demo", "--objects", "2", "--out", str(out / "file/c")],
                          capture_output=True, text=True)
    assert done.returncode == 74 and done.stdout == "", (done.stdout, done.stderr)

    text = demo("--objects", "2", "--frames", "2", "--views", "2", "--keep").stdout
    assert "the first object" in text and "state" in text, text
    state = next(out.glob("engram-*")) / "state"
    classes = subprocess.run([program, "classes", "--state", str(state), "--json"],
                             capture_output=True, text=True)
    assert [c["samples"] for c in json.loads(classes.stdout)["classes"]] == [2, 2]
print("demo: ok")
