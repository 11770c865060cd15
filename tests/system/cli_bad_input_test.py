"""Every kind of bad input: a sentence, an exit code, and nothing changed.

Usage: cli_bad_input_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made on the spot.
"""
import fcntl
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import BUSY, DATA, MISSING, PROGRAM, SKIPPED, USAGE, CliCase, main  # noqa: E402
from tiny_onnx import colour_picture  # noqa: E402


class BadInput(CliCase):
    def test_usage_errors(self):
        self.assertIn("Did you mean classify?", self.run_program("clasify", code=USAGE).stderr)
        self.assertIn("engram learn --help", self.run_program("learn", code=USAGE).stderr)
        self.assertIn("--top", self.run_program("classify", "x", "--top", "0", code=USAGE).stderr)
        self.assertIn("engram model --help", self.run_program("model", code=USAGE).stderr)
        picture = self.photos / "red/1.png"
        self.run_program("learn", "--arithmetic", "roughly", "a", picture, code=USAGE)
        self.run_program("learn", "--lambda", "-3", "a", picture, code=USAGE)
        self.run_program("learn", "--hidden", "7", "--model", "tiny", "a", picture, code=USAGE)
        self.assertFalse(self.state.exists())
        error = self.json("learn", "--no-such-option", code=USAGE)
        self.assertEqual(error["code"], USAGE)
        self.assertIn("--no-such-option", error["error"])
        self.assertEqual(subprocess.run([PROGRAM], capture_output=True).returncode, USAGE)

    def broken_files(self):
        good = colour_picture("red", 1)
        bad = {"zero.png": b"", "cut.png": good[: len(good) // 2], "text.jpg": b"no picture\n",
               "cut.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF"}
        for name, content in bad.items():
            (self.dir / name).write_bytes(content)
        if os.getuid() != 0:  # root may read everything
            (self.dir / "secret.png").write_bytes(good)
            (self.dir / "secret.png").chmod(0)
            bad["secret.png"] = None
        return [*bad, "missing.png"]

    def test_broken_pictures_are_skipped_and_named(self):
        names = self.broken_files()
        done = self.run_program("learn", "red", *names, self.photos / "red", "--model", "tiny",
                                "--json", code=SKIPPED)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["learned"], {"red": 8})
        self.assertEqual([s["path"] for s in answer["skipped"]], names)
        for name in names:
            self.assertIn(name, done.stderr)
        shown = self.run_program("classify", *names, self.photos / "red/1.png", code=SKIPPED)
        self.assertEqual(len(shown.stdout.splitlines()), 1)

    def test_strict_stops_before_anything_changes(self):
        words = ["red", *self.broken_files(), self.photos / "red", "--strict"]
        self.run_program("learn", *words, "--model", "tiny", code=DATA)
        self.assertFalse(self.state.exists())
        self.learn("red", self.photos / "red", "--strict")
        before = self.digest()
        self.assertIn("Nothing was changed", self.learn(*words, code=DATA)["error"])
        self.assertEqual(self.digest(), before)

    def test_nothing_readable_changes_nothing(self):
        names = self.broken_files()
        self.learn("red", *names, code=DATA)
        self.learn("red", "missing.png", code=MISSING)
        self.assertFalse(self.state.exists())
        self.learn("red", self.photos / "red/1.png")
        before = self.digest()
        self.learn("red", *names, code=DATA)
        self.assertEqual(self.digest(), before)
        self.run_program("classify", "zero.png", code=DATA)

    def test_empty_folders_and_no_state(self):
        (self.dir / "void").mkdir()
        for words in (["learn", "--tree", "void"], ["learn", "red", "void"],
                      ["learn", "--tree", "nowhere"], ["classify", "void"],
                      ["evaluate", "--train", "void", "--test", "void", "--model", "tiny"]):
            name = "nowhere" if "nowhere" in words else "void"
            self.assertIn(name, self.json(*words, code=MISSING)["error"])
        for command in (["classes"], ["inspect"], ["verify"], ["classify", self.photos],
                        ["learn", "--end-task"], ["history"], ["undo"], ["forget", "red"],
                        ["rename", "red", "blue"], ["relabel", "1", "red"]):
            self.assertIn("engram learn", self.json(*command, code=MISSING)["error"])
        self.assertFalse(self.state.exists())

    def test_one_picture_of_one_class(self):
        self.assertEqual(self.learn("only", self.photos / "red/1.png")["samples"], 1)
        answer = self.json("classify", self.photos / "red/2.png", "--top", "5")
        self.assertEqual(answer["label"], "only")

    def test_labels_that_cannot_be(self):
        for label in (b"", b"x" * 256, b"two\nlines", b"\xff\xfe"):
            done = subprocess.run([os.fsencode(PROGRAM), b"learn", b"--model", b"tiny", label,
                                   os.fsencode(self.photos / "red/1.png")], capture_output=True,
                                  env=self.environment())
            self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertFalse(self.state.exists())

    def test_another_backbone_is_refused(self):
        self.learn("red", self.photos / "red")
        before = self.digest()
        other = ["--model", "other"]
        refused = self.json("learn", "blue", self.photos / "blue", *other, code=USAGE)
        self.assertIn("another backbone", refused["error"])
        self.json("classify", self.photos / "red", *other, code=USAGE)
        self.assertEqual(self.digest(), before)
        gone = self.json("classify", self.photos / "red", "--home", "new", code=MISSING)
        self.assertIn("model", gone["error"])

    def test_options_that_disagree_with_the_state(self):
        self.learn("red", self.photos / "red", "--hidden", "300", "--seed", "5")
        before = self.digest()
        for words in (["--hidden", "400"], ["--seed", "6"], ["--arithmetic", "float"],
                      ["--lambda", "3.5"]):
            refused = self.learn("red", self.photos / "red/1.png", *words, code=USAGE)
            self.assertIn("cannot change", refused["error"])
        self.assertEqual(self.digest(), before)
        self.learn("blue", self.photos / "blue", "--hidden", "300", "--seed", "5")

    def test_damage_is_found(self):
        self.learn("red", self.photos / "red")
        for name in ("readout", "journal", "snapshot"):
            path = self.state / name
            content = path.read_bytes()
            damaged = bytearray(content)
            damaged[len(content) // 2] ^= 4
            path.write_bytes(damaged)
            done = self.run_program("verify", "--json", code=DATA)
            self.assertFalse(json.loads(done.stdout)["ok"])
            self.assertIn(name, done.stderr)
            if name == "readout":
                self.run_program("classify", self.photos / "red/1.png", code=DATA)
            path.write_bytes(content)
        self.assertTrue(self.json("verify")["ok"])

    def test_one_writer_many_readers(self):
        self.learn("red", self.photos / "red")
        with open(self.state / "lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.json("learn", "red", self.photos / "red/1.png", code=BUSY)
            for words in (["classify", self.photos / "red/1.png"], ["classes"], ["inspect"],
                          ["verify"]):
                self.json(*words)
        self.learn("red", self.photos / "red/1.png")

    def test_names_cannot_steer_the_terminal(self):
        picture = self.dir / "a\x1b[31m.png"
        picture.write_bytes(colour_picture("red", 1))
        self.learn("red", picture)
        self.assertIn("a?[31m.png", self.run_program("classify", picture).stdout)


if __name__ == "__main__":
    main()
