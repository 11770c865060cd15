"""The program as users meet it: every command, and every kind of bad input.

Usage: cli_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made here.
"""
import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

PROGRAM, BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests/support"))
from tiny_onnx import COLOURS, colour_picture, tiny_onnx  # noqa: E402

COMMANDS = ["demo", "learn", "classify", "classes", "inspect", "verify", "evaluate", "plan",
            "model", "features", "version"]
OK, SKIPPED, USAGE, DATA, MISSING, MEMORY, BUSY = 0, 3, 64, 65, 66, 71, 75


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory(prefix="engram-cli-")
        root = cls.root = pathlib.Path(cls.shared.name)
        cls.home = root / "home"
        cls.photos, cls.test_photos = root / "photos", root / "test"
        for folder, numbers in ((cls.photos, range(8)), (cls.test_photos, range(100, 104))):
            for colour in COLOURS:
                (folder / colour).mkdir(parents=True)
                for number in numbers:
                    picture = folder / colour / f"{number}.png"
                    picture.write_bytes(colour_picture(colour, number))
        for name, seed in (("tiny", 1), ("other", 2)):
            (root / f"{name}.onnx").write_bytes(tiny_onnx(seed))
            added = subprocess.run(
                [PROGRAM, "--home", cls.home, "model", "add", root / f"{name}.onnx", "--preset",
                 "unit", "--pictures", cls.photos], capture_output=True, text=True)
            assert added.returncode == OK, added.stderr

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def setUp(self):
        own = tempfile.TemporaryDirectory(prefix="engram-case-")
        self.addCleanup(own.cleanup)
        self.dir = pathlib.Path(own.name)
        self.state = self.dir / "state"

    def environment(self, **more):
        return {**os.environ, "ENGRAM_HOME": str(self.home), "ENGRAM_STATE": str(self.state), **more}

    def run_program(self, *words, code=OK):
        """The finished process; its exit code must be `code`, and a failure must be told."""
        done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True,
                              env=self.environment(), cwd=self.dir, timeout=300)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        self.assertNotIn("\x1b", done.stdout + done.stderr, "colours without a terminal")
        if code not in (OK, SKIPPED):
            self.assertRegex(done.stderr, "(error|warning): .{20}", "a failure needs a sentence")
        return done

    def json(self, *words, code=OK):
        return json.loads(self.run_program(*words, "--json", code=code).stdout)

    def learn(self, *words, code=OK):
        """learn into the test's state, with the tiny backbone where it is new."""
        model = [] if self.state.exists() else ["--model", "tiny"]
        return self.json("learn", *model, *words, code=code)

    def digest(self):
        return self.json("inspect")["digest"]

    # ---- help and usage --------------------------------------------------------------------------
    def test_every_command_has_a_page_with_an_example(self):
        top = self.run_program("--help").stdout
        for word in ("EXIT CODES", "ENVIRONMENT", "ENGRAM_STATE"):
            self.assertIn(word, top)
        pages = [[c] for c in COMMANDS] + [["model", c] for c in ("add", "list", "show", "remove")]
        for page in pages:
            self.assertIn(page[0], top)
            text = self.run_program(*page, "--help").stdout
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLE"):
                self.assertIn(section, text, page)
            self.assertIn("engram " + " ".join(page), text.split("EXAMPLE")[1], page)

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

    def test_version(self):
        self.assertRegex(self.json("version")["version"], r"^\d+\.\d+\.\d+$")

    # ---- learning and answering ------------------------------------------------------------------
    def test_learn_one_by_one_and_classify(self):
        for colour in COLOURS:
            answer = self.learn(colour, self.photos / colour)
            self.assertEqual(answer["learned"], {colour: 8})
            self.assertTrue(answer["durable"] and answer["task_ended"])
        files = sorted(self.test_photos.rglob("*.png"))
        done = self.run_program("classify", self.test_photos, "--top", "2", "--json")
        answers = {a["file"]: a for a in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(len(answers), len(files))
        right = sum(answers[str(f)]["label"] == f.parent.name for f in files)
        self.assertGreaterEqual(right, len(files) - 1)
        self.assertEqual(len(answers[str(files[0])]["top"]), 2)
        classes = self.json("classes")["classes"]
        self.assertEqual([(c["label"], c["samples"]) for c in classes], [(c, 8) for c in COLOURS])
        about = self.json("inspect")
        self.assertEqual((about["samples"], about["classes"], about["tasks"]), (32, 4, 4))
        self.assertEqual((about["model"], about["config"]["arithmetic"]), ("tiny", "exact"))
        self.assertGreater(about["exact_until"], 32)
        verified = self.json("verify")
        self.assertTrue(verified["ok"])
        self.assertEqual(verified["digest"], about["digest"])
        for command in ("classes", "inspect", "verify"):
            self.assertTrue(self.run_program(command).stdout)
        self.assertEqual(self.run_program("learn", "red", files[-1], "--quiet").stdout, "")

    def test_order_batches_and_threads_do_not_matter(self):
        self.learn("--tree", self.photos)
        first = self.digest()
        self.state = self.dir / "second"
        for colour in reversed(COLOURS):
            files = sorted((self.photos / colour).iterdir(), reverse=True)
            self.learn(colour, *files[:3], "--threads", "1")
            self.learn(colour, *files[3:], "--threads", "2")
        self.assertEqual(self.digest(), first)

    def test_float_as_in_the_paper(self):
        self.learn("--tree", self.photos, "--arithmetic", "float", "--hidden", "300", "--lambda",
                   "code", "--nonlinearity", "square")
        config = self.json("inspect")["config"]
        self.assertEqual((config["arithmetic"], config["weights"], config["hidden"]),
                         ("float", "gaussian", 300))
        self.assertIn(self.json("classify", self.test_photos / "red/100.png")["label"], COLOURS)

    def test_trees_and_odd_labels(self):
        tree = self.dir / "tree"
        for label in ("coffee mug", "Größe 猫", "nested"):
            (tree / label).mkdir(parents=True)
            (tree / label / "a.png").write_bytes(colour_picture("red", label))
        (tree / "nested/deeper").mkdir()
        (tree / "nested/deeper/b.PNG").write_bytes(colour_picture("red", 7))
        (tree / "empty").mkdir()
        (tree / "stray.png").write_bytes(colour_picture("red", 8))
        done = self.run_program("learn", "--tree", tree, "--model", "tiny", "--json")
        self.assertEqual(json.loads(done.stdout)["learned"],
                         {"Größe 猫": 1, "coffee mug": 1, "nested": 2})
        self.assertIn("empty: holds no picture", done.stderr)
        self.assertIn("1 picture beside the folders", done.stderr)
        self.assertIn("with/slash", self.learn("with/slash", tree / "stray.png")["learned"])

    def test_label_files(self):
        (self.dir / "list.tsv").write_text(
            f"{self.photos}/red/1.png\tred thing\n{self.photos}/blue/1.png\tblue\r\n")
        answer = self.learn("--labels", "list.tsv")
        self.assertEqual(answer["learned"], {"red thing": 1, "blue": 1})
        before = self.digest()
        for bad, words in (("a.png mug\n", "no tab"), ("a\tb\tc\n", "more than one tab"),
                           ("", "empty"), ("a.png\t\n", "empty")):
            (self.dir / "bad.tsv").write_text(bad)
            self.assertIn(words, self.learn("--labels", "bad.tsv", code=DATA)["error"])
        self.learn("--labels", "missing.tsv", code=MISSING)
        self.assertEqual(self.digest(), before)

    def test_keep_open_and_end_task(self):
        answer = self.learn("red", self.photos / "red", "--keep-open")
        self.assertFalse(answer["task_ended"])
        self.assertEqual(self.json("inspect")["open_task_samples"], 8)
        refused = self.json("classify", self.photos / "red/1.png", code=MISSING)
        self.assertIn("no task has ended", refused["error"])
        self.assertTrue(self.learn("--end-task")["task_ended"])
        self.assertEqual(self.json("classify", self.photos / "red/1.png")["label"], "red")

    # ---- bad input -------------------------------------------------------------------------------
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
                        ["learn", "--end-task"]):
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

    # ---- measuring -------------------------------------------------------------------------------
    def test_evaluate(self):
        heads = ["exact", "float", "float-bipolar", "none", "ncm"]
        answer = self.json("evaluate", "--train", self.photos, "--test", self.test_photos,
                           "--tasks", "2", "--head", ",".join(heads), "--hidden", "500",
                           "--lambda", "1", "--model", "tiny", "--out", "report")
        self.assertEqual(answer, json.loads((self.dir / "report/report.json").read_text()))
        self.assertEqual([h["head"] for h in answer["heads"]], heads)
        for head in answer["heads"]:
            run, = head["runs"]
            self.assertEqual([len(t["accuracy"]) for t in run["tasks"]], [1, 2])
            self.assertEqual(sorted(run["class_order"]), [0, 1, 2, 3])
            first, last = run["tasks"]
            self.assertAlmostEqual(last["average_accuracy"], sum(last["accuracy"]) / 2)
            lost = first["accuracy"][0] - last["accuracy"][0]
            self.assertAlmostEqual(last["forgetting"], lost)
            self.assertGreater(last["top1"], 60, head["head"])
        self.assertGreater(answer["peak_memory_bytes"], 1_000_000)
        text = (self.dir / "report/report.txt").read_text()
        for word in ("A_T", "F_T", "top-1", "float-bipolar", "peak memory"):
            self.assertIn(word, text)
        svg = xml.etree.ElementTree.parse(self.dir / "report/accuracy.svg").getroot()
        self.assertEqual(len(svg.findall("{http://www.w3.org/2000/svg}polyline")), 5)
        self.assertFalse(self.state.exists(), "evaluate touched a state")

    def test_evaluate_at_the_edges(self):
        one = self.dir / "one/only"
        one.mkdir(parents=True)
        (one / "a.png").write_bytes(colour_picture("red", 1))
        base = ["evaluate", "--train", one.parent, "--model", "tiny", "--hidden", "100"]
        same = [*base, "--test", one.parent]
        self.assertEqual(self.json(*same)["heads"][0]["top1"], 100)
        self.json(*same, "--tasks", "2", code=USAGE)
        self.json(*same, "--protocol", "magic", code=USAGE)
        self.json(*same, "--head", "magic", code=USAGE)
        done = self.run_program(*base, "--test", self.test_photos, code=DATA)
        self.assertIn("left out", done.stderr)

    def test_plan(self):
        small = self.json("plan", "--hidden", "1000", "--features", "384", "--classes", "10")
        self.assertEqual(small["total_bytes"], sum(b["bytes"] for b in small["buffers"]))
        for device in ("orin-nano-4gb", "orin-nano-8gb", "orin-nx-16gb", "agx-orin-64gb", "3GB"):
            plan = self.json("plan", "--device", device)
            self.assertLessEqual(plan["total_bytes"], plan["budget_bytes"])
            self.assertTrue(plan["fits"])
        self.assertFalse(self.json("plan", "--device", "1GB", "--hidden", "20000")["fits"])
        self.json("plan", "--device", "1000", code=MEMORY)
        self.json("plan", "--device", "toaster", code=USAGE)
        self.assertIn("all at once", self.run_program("plan").stdout)

    def test_features_for_numpy(self):
        self.json("features", "--tree", self.photos, "-o", "f", "--model", "tiny")
        content = (self.dir / "f_x.npy").read_bytes()
        length = struct.unpack("<H", content[8:10])[0]
        self.assertIn(b"'shape': (32, 64)", content[10:10 + length])
        self.assertEqual(len(content), 10 + length + 32 * 64 * 4)
        labels = (self.dir / "f_y.npy").read_bytes()[-32 * 4:]
        self.assertEqual(struct.unpack("<32i", labels), tuple(i // 8 for i in range(32)))
        self.assertEqual((self.dir / "f_classes.txt").read_text().split(), sorted(COLOURS))
        self.assertEqual(len((self.dir / "f_paths.txt").read_text().splitlines()), 32)

    # ---- models ----------------------------------------------------------------------------------
    def test_models(self):
        models = self.json("model", "list")["models"]
        self.assertEqual({m["name"] for m in models}, {"tiny", "other"})
        self.assertEqual(self.json("model", "show", "tiny")["features"], 64)
        self.json("model", "show", "nobody", code=MISSING)
        home = ["--home", self.dir / "home"]
        self.assertIn("engram model add", self.run_program("model", "list", *home).stdout)
        add = ["model", "add", self.root / "tiny.onnx", "--preset", "unit", "--pictures",
               self.photos, "--as", "mine", *home]
        self.json(*add)
        self.json(*add, code=USAGE)
        self.json(*add, "--replace")
        self.assertEqual(self.json("model", "remove", "mine", *home)["removed"], "mine")
        self.json("model", "remove", "mine", *home, code=MISSING)
        (self.dir / "bad.onnx").write_bytes(b"\x08\x08garbage")
        self.json("model", "add", "bad.onnx", "--pictures", self.photos, *home, code=DATA)
        self.json("model", "add", "missing.onnx", *home, code=MISSING)
        self.assertEqual(self.json("model", "list", *home)["models"], [])

    # ---- terminals -------------------------------------------------------------------------------
    def on_terminal(self, *words, **environment):
        """What the program writes when stdout and stderr are a terminal."""
        master, slave = pty.openpty()
        process = subprocess.Popen([str(PROGRAM), *map(str, words)], stdout=slave, stderr=slave,
                                   cwd=self.dir, env=self.environment(TERM="xterm", **environment))
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end was closed
                break
            if not part:
                break
            text += part
        os.close(master)
        self.assertEqual(process.wait(), OK, text)
        return text.decode()

    def test_colours_only_on_a_terminal_and_only_if_wanted(self):
        self.learn("red", self.photos / "red")
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        with unittest.mock.patch.dict(os.environ, environment, clear=True):
            self.assertIn("\x1b[1m", self.on_terminal("classes"))
            self.assertNotIn("\x1b[", self.on_terminal("classes", NO_COLOR="1"))

    def test_names_cannot_steer_the_terminal(self):
        picture = self.dir / "a\x1b[31m.png"
        picture.write_bytes(colour_picture("red", 1))
        self.learn("red", picture)
        self.assertIn("a?[31m.png", self.run_program("classify", picture).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
