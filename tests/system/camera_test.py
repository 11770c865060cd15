"""The camera app before a terminal, in a pipe, and killed in the middle of taps.

Usage: camera_test.py <engram> <build folder> <source folder>. Skips (77) without the photos.
"""
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(sys.argv[3], "tests", "support"))
from camera_app import CameraApp, Refused  # noqa: E402
from cli_case import BUSY, MISSING, OK, PROGRAM, UNSUPPORTED, USAGE, CliCase, main  # noqa: E402
from model_home import stamp  # noqa: E402
from pty_session import PtySession  # noqa: E402

DUCK, BANANA = stamp("household/rubberduck.png"), stamp("food/fruit/banana.png")
KILLS = 20


class Camera(CliCase):
    def stage(self, photo):
        """The address of a virtual camera that shows this object alone."""
        folder = self.dir / os.path.basename(photo)[:-4]
        if not folder.exists():
            folder.mkdir()
            shutil.copy(photo, folder)
        return f"stage://?objects=1&width=160&height=120&fps=20&stamps={folder}"

    def camera(self, source, *words):
        model = [] if self.state.exists() else ["--model", "tiny"]
        return PtySession([PROGRAM, "camera", source, "--quiet-time", "0.2", *model, *words], self.environment())

    def classes(self):
        return {c["label"]: c["samples"] for c in self.json("classes")["classes"]}

    # ---- a terminal ------------------------------------------------------------------------------
    def test_two_objects_are_learned_by_keys(self):
        with self.camera(self.stage(DUCK), "--window", "--mirror") as app:
            app.wait_for("nothing is learned yet")
            app.wait_for("▀")
            app.type("n")
            app.wait_for("new class: _")
            app.type("duckx\x7fé\x7f\r")
            app.wait_for(r"learned duck \(1 sample\)")
            app.wait_for(r"duck\?")  # everything is, by now
            app.type("1")
            app.wait_for(r"learned duck \(2 samples\)")
            app.wait_for(r"(duck|closest: duck)  ?\d+ %")
            app.type("b")
            app.wait_for(r"learned background \(1 sample\)")
            app.type("u")
            app.wait_for(r"undone: learn background \(1 sample\)")
            app.type("?")
            app.wait_for("Esc leaves")
            app.type("pp9")
            app.wait_for("there is no class 9")
            app.type("q")
            self.assertEqual(app.end(), OK, app.text)
            self.assertIn("\x1b[?1049l", app.text)
            self.assertIn("1 class, 2 samples in all", app.text)
            self.assertTrue(app.is_restored())
        self.assertEqual(self.classes(), {"duck": 2})

        with self.camera(self.stage(BANANA)) as app:
            app.wait_for(r"duck +2")
            app.type("n")
            app.type("banane mûre\r")
            app.wait_for(r"learned banane mûre \(1 sample\)")
            app.type("x")
            app.type("1\r")  # wrong: it is a duck
            app.wait_for(r"learned duck \(3 samples\)")
            app.type("r")
            app.type("banane mûre\r")
            app.wait_for("from duck to banane mûre")
            app.type("e")
            app.wait_for("the task has ended")
            app.type("\x03")  # Ctrl-C
            self.assertEqual(app.end(), OK, app.text)
            self.assertTrue(app.is_restored())
        self.assertEqual(self.classes(), {"duck": 2, "banane mûre": 2})
        self.json("verify")

    def test_the_terminal_is_put_back(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGABRT):
            with self.camera(self.stage(DUCK)) as app:
                app.wait_for("nothing is learned yet")
                self.assertFalse(app.is_restored())
                app.send(number)
                self.assertEqual(app.end(), -number if number == signal.SIGABRT else OK)
                self.assertIn("\x1b[?1049l", app.text)
                self.assertTrue(app.is_restored())

    def test_the_terminal_is_lent_to_the_shell(self):
        # Only a shell with jobs lets a program stop.
        shell = ["bash", "-mc", '"$@"; echo STOPPED; read line; fg >&2', "shell"]
        with PtySession([*shell, PROGRAM, "camera", self.stage(DUCK), "--model", "tiny"], self.environment()) as app:
            app.wait_for("nothing is learned yet")
            app.type("\x1a")  # Ctrl-Z
            app.wait_for(r"\x1b\[\?1049l(.|\s)*STOPPED")
            self.assertTrue(app.is_restored())
            app.type("\n")
            app.wait_for(r"\x1b\[\?1049h")
            app.wait_for("nothing is learned yet")
            self.assertFalse(app.is_restored())
            app.type("q")
            self.assertEqual(app.end(), OK)
            self.assertTrue(app.is_restored())

    # ---- no terminal -----------------------------------------------------------------------------
    def test_lines_in_a_pipe(self):
        self.learn("--tree", self.photos)
        source = f"{self.photos}/red?fps=0"
        lines = self.run_program("camera", source).stdout.splitlines()
        self.assertRegex(lines[0], r"^red  \d+ %$")
        answers = [json.loads(line) for line in self.run_program("camera", source, "--json").stdout.splitlines()]
        self.assertEqual(answers[0]["label"], "red")
        self.assertIn("probability", answers[0])

    def test_headless_ends_when_asked(self):
        process = subprocess.Popen([PROGRAM, "camera", self.stage(DUCK), "--headless", "--model", "tiny"],
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("the camera is there", process.stderr.readline())
        process.terminate()
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, OK)
        self.assertIn("0 classes", out)

    def test_a_source_that_goes_comes_back(self):
        shown, away = self.dir / "shown", self.dir / "away"
        shutil.copytree(self.photos / "red", shown)
        words = [PROGRAM, "camera", f"{shown}?fps=100&loop=1", "--model", "tiny"]
        with CameraApp(words, self.environment(), self.dir / "log") as app:
            app.wait_for_picture()
            before = app.picture()
            shown.rename(away)
            app.wait_until(lambda state: state["feed"]["kind"] == "lost")
            # Other pictures under other names: only who opens the folder again finds them.
            for number, photo in enumerate(sorted((self.photos / "blue").iterdir())):
                shutil.copy(photo, away / f"other-{number}.png")
            for photo in (self.photos / "red").iterdir():
                (away / photo.name).unlink()
            away.rename(shown)
            state = app.wait_until(lambda state: state["feed"]["kind"] == "live" and app.picture() != before)
            self.assertEqual(state["feed"]["reopened"], 1)
            app.wait_until(lambda state: "the camera is back" in [event["text"] for event in state["events"]])

    def test_read_only_storage(self):
        self.learn("--tree", self.photos)
        words = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c",
                 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"', "sh", str(self.state)]
        if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespaces here")
        with CameraApp([*words, PROGRAM, "camera", f"{self.photos}/red?fps=50&loop=1"], self.environment(),
                       self.dir / "log") as app:
            app.wait_for_picture()
            state = app.get("/api/state")
            self.assertIn("Read-only file system", state["fault"])
            self.assertEqual(len(state["classes"]), 4)
            with self.assertRaisesRegex(Refused, "507: .*nothing can be learned"):
                app.post("/api/learn", {"label": "red"})
            with self.assertRaisesRegex(Refused, "503"):
                app.get("/health")
            self.assertEqual(app.stop()[1], OK)
            self.assertIn("Read-only file system", app.said())

    def test_what_is_refused(self):
        tiny = ["--model", "tiny"]
        self.run_program("camera", *tiny, "stage:/typo", code=MISSING)
        self.run_program("camera", *tiny, "nonsense://x", code=UNSUPPORTED)
        for words in (["stage://?objcts=1"], ["stage://", "--region", "1,2,3"],
                      ["stage://", "--region", "60,0,50,100"], ["stage://", "--fps", "0"],
                      ["stage://", "--false-alarm", "nan"], ["a", "b"]):
            with self.subTest(words):
                self.run_program("camera", *tiny, *words, code=USAGE)
                self.assertFalse(self.state.exists())
        self.run_program("camera", "stage://", "--model", "no-such-model", code=MISSING)
        self.learn("red", self.photos / "red")
        self.run_program("camera", self.stage(DUCK), "--model", "other", code=USAGE)
        self.run_program("camera", self.stage(DUCK), "--hidden", "300", code=USAGE)
        with open(self.state / "lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.run_program("camera", self.stage(DUCK), code=BUSY)

    def test_bench(self):
        report = self.json("bench", "live", "--model", "tiny", "--objects", "2", "--taps", "2", "--views", "2",
                           "--seconds", "0.2", "--confusion", "who.svg")
        self.assertEqual([sum(row) for row in report["confusion"]], [2, 2])
        self.assertEqual(sum(report["confusion"][i][i] for i in range(2)), report["rounds"][-1]["right"])
        picture = ElementTree.parse(self.dir / "who.svg").getroot()
        self.assertEqual(len(picture.findall("{http://www.w3.org/2000/svg}rect")), 1 + 4)
        self.assertEqual([r["asked"] for r in report["rounds"]], [2, 4])
        self.assertEqual(report["tap_to_known"]["count"], 4)
        self.assertGreaterEqual(report["tap_to_known"]["median_ms"], report["tap_to_durable"]["median_ms"])
        self.assertGreater(report["learning"]["count"], 0)
        self.assertEqual(len(report["marks"]), 3)
        self.assertFalse(self.state.exists())

    # ---- kill -9 ---------------------------------------------------------------------------------
    def test_killed_in_the_middle_of_taps(self):
        draw = random.Random(1)
        self.learn("a", self.photos / "red/0.png")
        self.learn("b", self.photos / "blue/0.png")
        acknowledged = {"a": 1, "b": 1}
        source = self.stage(DUCK)
        for kill in range(KILLS):
            with self.camera(source) as app:
                app.wait_for(r"live \d+ fps")
                app.type("12")
                first = app.wait_for(r"learned (a|b) \((\d+) samples")  # however busy the machine is
                acknowledged[first[1]] = max(acknowledged[first[1]], int(first[2]))
                end = time.monotonic() + draw.uniform(0.05, 0.4)
                while time.monotonic() < end:
                    app.type("12")
                    app.read(0.02)
                app.send(signal.SIGKILL)
                app.end()
                for label, samples in re.findall(r"learned (a|b) \((\d+) samples", app.text):
                    acknowledged[label] = max(acknowledged[label], int(samples))
            found = self.classes()
            for label, samples in acknowledged.items():
                self.assertGreaterEqual(found[label], samples, f"kill {kill}")
        self.assertGreater(sum(acknowledged.values()), KILLS)
        self.json("verify")


if __name__ == "__main__":
    main()
