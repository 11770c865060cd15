"""`engram adapt` and `engram evaluate --phase1` as users meet them, on a tiny Vision Transformer made on the spot.

Usage: adapt_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library.
"""
import json
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import (BUSY, COLOURS, DATA, MEMORY, MISSING, PROGRAM, SKIPPED, UNSUPPORTED, USAGE, CliCase,  # noqa: E402
                      main)
from tiny_onnx import colour_picture  # noqa: E402
from tiny_vit import tiny_vit  # noqa: E402

DISK = 74
METHODS = ("adaptformer", "ssf", "vpt")


class Adapt(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.task = cls.root / "task"
        for colour in COLOURS:
            (cls.task / colour).mkdir(parents=True)
            for number in range(14):
                (cls.task / colour / f"{number}.png").write_bytes(colour_picture(colour, number))
        (cls.root / "vit.onnx").write_bytes(tiny_vit())
        added = subprocess.run([PROGRAM, "--home", cls.home, "model", "add", cls.root / "vit.onnx", "--preset", "unit",
                                "--pictures", cls.photos], capture_output=True, text=True)
        assert added.returncode == 0, added.stderr

    def setUp(self):
        super().setUp()
        self.home = self.dir / "home"  # of this test alone: models are added to it
        shutil.copytree(type(self).home, self.home)

    def copy(self, tree, pictures):
        """A tree of (label, picture)."""
        for at, (label, picture) in enumerate(pictures):
            (tree / label).mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, tree / label / f"{at}.png")
        return tree

    def words(self, *more, method="vpt", tree=None, batch=16, always=True):
        """Of `engram adapt`. always: the model is added whatever the four pictures held out say."""
        return ["adapt", "--tree", tree or self.task, "--method", method, "--model", "vit", "--batch", batch,
                *(["--always"] if always else []), *more]

    def models(self):
        return {m["name"]: m["sha256"] for m in self.json("model", "list")["models"]}

    def training(self, name):
        return self.home / "adapting" / f"{name}.training"

    def test_each_method_makes_a_model_that_learns(self):
        before = self.models()
        for method in METHODS:
            answer = self.json(*self.words("--epochs", "4", "--learning-rate", "0.1", "--head-start", "random", "--svg", "curves.svg",
                                           method=method))
            name = f"vit-{method}"
            self.assertEqual((answer["model"], answer["parent"], answer["method"]), (name, "vit", method))
            self.assertEqual(answer["parent_sha256"], before["vit"])
            self.assertEqual((answer["pictures"], answer["held_out"], answer["classes"]), (56, 4, sorted(COLOURS)))
            self.assertEqual(len(answer["curves"]), answer["epochs"])
            self.assertLess(answer["curves"][-1]["loss"], answer["curves"][0]["loss"], method)
            losses = [c["held_out_loss"] for c in answer["curves"]]
            self.assertEqual(answer["kept_epoch"], losses.index(min(losses)) + 1)
            self.assertLess(answer["difference_to_onnx"], 1e-3)
            self.assertEqual(answer["helped"],
                             answer["nearest_mean_after"]["right"] > answer["nearest_mean_before"]["right"])
            self.assertLessEqual(answer["memory"]["training_bytes"], answer["memory"]["budget_bytes"])
            self.assertFalse(self.training(name).exists(), "the training stayed behind")
            svg = xml.etree.ElementTree.parse(self.dir / "curves.svg").getroot()
            self.assertEqual(len(svg.findall("{http://www.w3.org/2000/svg}polyline")), 4)
            card = self.json("model", "show", name)
            self.assertEqual((card["sha256"], card["parent"]), (answer["sha256"], f"vit {before['vit']}"))
            self.assertEqual(card["adapted"], answer["adapted"])
            self.assertIn(method, card["adapted"])
        after = self.models()
        self.assertEqual({k: v for k, v in after.items() if not k.startswith("vit-")}, before)
        self.assertEqual(len(set(after.values())), len(after))
        # It learns and recognises like any other, in a state of its own.
        self.json("learn", "--tree", self.photos, "--model", "vit-adaptformer")
        files = sorted(self.test_photos.rglob("*.png"))
        said = self.run_program("classify", self.test_photos, "--json").stdout.splitlines()
        right = sum(a["label"] == pathlib.Path(a["file"]).parent.name for a in map(json.loads, said))
        self.assertGreaterEqual(right, len(files) * 3 // 4)
        # A state of the parent is not for its child.
        self.state = self.dir / "parents"
        self.json("learn", "--tree", self.photos, "--model", "vit")
        refused = self.json("classify", self.photos / "red/1.png", "--model", "vit-ssf", code=USAGE)
        self.assertIn("vit", refused["error"])
        # And the name is taken now.
        self.assertIn("already", self.json(*self.words(method="ssf"), code=USAGE)["error"])

    def test_a_plan_says_what_it_takes_and_takes_nothing(self):
        before = self.models()
        plan = self.json(*self.words("--plan", "--device", "orin-nano-8gb", method="ssf"))
        self.assertEqual((plan["method"], plan["classes"], plan["pictures"]), ("ssf", len(COLOURS), 56))
        self.assertEqual(plan["bytes"], sum(row["bytes"] for row in plan["buffers"]))
        estimate = plan["estimate"]
        self.assertFalse(estimate["measured"])
        self.assertAlmostEqual(estimate["step_seconds"], sum(o["seconds"] for o in estimate["operations"]))
        self.assertAlmostEqual(estimate["epoch_seconds"], estimate["step_seconds"] * 56 / 16)
        self.assertNotIn("estimate", self.json(*self.words("--plan")))
        self.assertIn("no device", self.json(*self.words("--plan", "--device", "toaster"), code=USAGE)["error"])
        self.assertEqual(self.models(), before)
        self.assertFalse((self.home / "adapting").exists())

    def test_a_killed_training_goes_on_to_the_bit(self):
        common = ["--epochs", "25", "--patience", "0"]
        whole = self.json(*self.words(*common, "--as", "whole"))
        for how in (signal.SIGKILL, signal.SIGTERM):
            name = f"part-{how.name.lower()}"
            words = [str(w) for w in self.words(*common, "--as", name)]
            process = subprocess.Popen([str(PROGRAM), *words], env=self.environment(), cwd=self.dir,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            seen = set()  # checkpoints
            while len(seen) < 4 and process.poll() is None:
                if self.training(name).exists():
                    seen.add(self.training(name).stat().st_mtime_ns)
                time.sleep(0.001)
            process.send_signal(how)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -9 if how == signal.SIGKILL else BUSY, errors)
            self.assertTrue(self.training(name).exists())
            self.assertNotIn(name, self.models())
            if how == signal.SIGKILL:
                self.assertIn("--resume", self.json(*words, code=USAGE)["error"])
                other = self.json(*words, "--resume", "--learning-rate", "0.5", code=USAGE)
                self.assertIn("learning rate", other["error"])
            answer = self.json(*words, "--resume")
            self.assertGreater(answer["resumed_after_epoch"], 0)
            self.assertEqual(answer["sha256"], whole["sha256"], how)
            strip = [[c[k] for k in ("loss", "accuracy", "held_out_loss")] for c in answer["curves"]]
            self.assertEqual(strip, [[c[k] for k in ("loss", "accuracy", "held_out_loss")] for c in whole["curves"]])

    def test_threads_and_memory_do_not_change_what_is_learned(self):
        common = ["--epochs", "2"]
        one = self.json(*self.words(*common, "--as", "one-thread", "--threads", "1"))
        two = self.json(*self.words(*common, "--as", "two-threads", "--threads", "2"))
        self.assertEqual(one["sha256"], two["sha256"])
        little = one["memory"]["training_bytes"] + 50_000  # most pictures are read again in each epoch
        small = self.json(*self.words(*common, "--as", "little", "--memory", little))
        self.assertLess(small["memory"]["pictures_kept"], small["pictures"])
        self.assertLessEqual(small["memory"]["training_bytes"] + small["memory"]["pictures_bytes"], little)
        for a, b in zip(one["curves"], small["curves"]):  # other parts of a batch: equal to rounding
            self.assertAlmostEqual(a["loss"], b["loss"], places=4)

    def test_first_tasks_that_are_too_small(self):
        before = self.models()
        one = self.copy(self.dir / "one", [("red", p) for p in (self.task / "red").iterdir()])
        refused = self.json(*self.words(tree=one), code=USAGE)["error"]
        self.assertIn('one class, "red"', refused)
        self.assertIn("Nothing was changed", refused)
        self.assertIn("fewer than one batch of 60", self.json(*self.words(batch=60), code=USAGE)["error"])
        few = self.copy(self.dir / "few", [(c, self.task / c / f"{n}.png") for c in COLOURS for n in range(4)])
        done = self.run_program(*self.words(tree=few, batch=8), code=USAGE)
        self.assertIn("by heart", done.stderr)
        self.json(*self.words(tree=self.dir / "missing"), code=MISSING)
        self.assertEqual(self.models(), before)

    def test_broken_pictures_are_named_and_left_out(self):
        tree = self.copy(self.dir / "tree", [(c, self.task / c / f"{n}.png") for c in COLOURS
                                             for n in range(3 if c == "red" else 14)])
        (tree / "blue/broken.jpg").write_bytes(b"no picture")
        done = self.run_program(*self.words("--epochs", "1", "--as", "from-broken", "--json", tree=tree), code=SKIPPED)
        answer = json.loads(done.stdout)
        self.assertEqual([pathlib.Path(s["path"]).name for s in answer["skipped"]], ["broken.jpg"])
        self.assertIn("Fewer than 5 pictures of red (3)", done.stderr)
        self.assertEqual(answer["held_out"], 3)

    def test_what_cannot_be_adapted(self):
        before = self.models()
        refused = self.json("adapt", "--tree", self.task, "--method", "ssf", "--model", "tiny", code=UNSUPPORTED)
        self.assertIn("goes on frozen", refused["error"])
        self.assertIn("adaptformer", self.json(*self.words(method="magic"), code=USAGE)["error"])
        self.assertIn("--as", self.json(*self.words("--as", "a/b"), code=USAGE)["error"])
        self.assertIn("a name of its own", self.json(*self.words("--as", "vit"), code=USAGE)["error"])
        self.json(*self.words("--resume", "--restart"), code=USAGE)
        refused = self.json(*self.words("--memory", "100000"), code=MEMORY)["error"]
        self.assertIn("needs at least", refused)
        self.assertEqual(self.models(), before)

    def test_a_loss_that_diverges(self):
        before = self.models()
        refused = self.json(*self.words("--learning-rate", "900", "--as", "wild", method="ssf"), code=DATA)["error"]
        for words in ("diverged", "smaller learning rate", "as they were"):
            self.assertIn(words, refused)
        self.assertEqual(self.models(), before)
        self.assertFalse(self.training("wild").exists())

    def test_a_damaged_training(self):
        self.home.joinpath("adapting").mkdir(exist_ok=True)
        self.training("vit-vpt2").write_bytes(b"EGADAPT\1 and more")
        words = self.words("--as", "vit-vpt2", "--epochs", "1")
        self.assertIn("--restart", self.json(*words, "--resume", code=DATA)["error"])
        self.assertEqual(self.json(*words, "--restart")["model"], "vit-vpt2")

    def run_limited(self, limit, *words):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        # Python ignores SIGXFSZ, and so does what it starts like this: a write fails instead.
        return subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, cwd=self.dir,
                              env=self.environment(), timeout=120, preexec_fn=set_limit, restore_signals=False)

    def test_a_full_disk(self):
        before = self.models()
        words = self.words("--as", "full", "--epochs", "2")
        done = self.run_limited(1000, *words)  # no checkpoint fits
        self.assertEqual(done.returncode, DISK, done.stderr)
        self.assertIn("nothing was trained yet", done.stderr)
        self.assertFalse(self.training("full").exists())
        done = self.run_limited(30_000, *words)  # checkpoints fit, the model does not
        self.assertEqual(done.returncode, DISK, done.stderr)
        self.assertIn("--resume", done.stderr)
        self.assertEqual(self.models(), before)
        answer = self.json(*words, "--resume")
        self.assertEqual((answer["resumed_after_epoch"], answer["model"]), (2, "full"))

    def test_it_stops_when_it_learns_by_heart(self):
        tree = self.copy(self.dir / "noise", [(f"class{at % 4}", picture)  # labels that mean nothing
                                              for at, picture in enumerate(sorted(self.task.rglob("*.png")))])
        answer = self.json(*self.words("--epochs", "200", "--patience", "3", "--learning-rate", "0.2", "--as", "noisy",
                                       method="adaptformer", tree=tree))
        self.assertTrue(answer["stopped_early"])
        self.assertEqual(answer["epochs"], answer["kept_epoch"] + 3)
        self.assertIn(f"epoch {answer['kept_epoch']} of 200", answer["adapted"])

    def test_what_makes_it_worse_is_not_added(self):
        before = self.models()
        # A decay that all but wipes the scales out, and with them what the colours look like.
        words = ["--epochs", "1", "--weight-decay", "0.99", "--learning-rate", "0.9", "--as", "worse"]
        answer = self.json(*self.words(*words, method="ssf", always=False))
        self.assertLess(answer["nearest_mean_after"]["right"], answer["nearest_mean_before"]["right"])
        self.assertEqual((answer["model"], answer["helped"]), (None, False))
        self.assertEqual(self.models(), before)
        self.assertFalse(self.training("worse").exists())
        text = self.run_program(*self.words(*words, method="ssf", always=False)).stdout
        self.assertIn("kept frozen", text)
        self.assertNotIn("Use it with", text)
        self.assertEqual(self.json(*self.words(*words, method="ssf"))["model"], "worse")  # --always
        self.assertIn("worse", self.models())

    def test_people_see_a_table_and_curves(self):
        text = self.run_program(*self.words("--epochs", "3", "--as", "shown")).stdout
        for words in ("56 pictures of 4 classes, 4 of them held out", "memory:", "held-out right", "loss over epochs",
                      "nearest class mean on 4 pictures held out", "--model shown"):
            self.assertIn(words, text)

    # ---- evaluate --phase1 -----------------------------------------------------------------------
    def test_evaluate_beside_the_frozen_backbone(self):
        words = ["evaluate", "--train", self.task, "--test", self.test_photos, "--model", "vit", "--tasks", "2", "--head",
                 "engram,ncm", "--hidden", "100", "--phase1", "ssf", "--phase1-epochs", "2", "--phase1-batch", "16"]
        before = self.models()
        answer = self.json(*words, "--seed", "1993,1994", "--out", "report")
        self.assertEqual([h["head"] for h in answer["heads"]],
                         ["engram", "engram, phase 1 ssf", "ncm", "ncm, phase 1 ssf"])
        self.assertEqual([h["phase1"] for h in answer["heads"]], [None, "ssf"] * 2)
        for head in answer["heads"]:
            self.assertEqual([r["class_seed"] for r in head["runs"]], [1993, 1994])
        self.assertEqual([p["class_seed"] for p in answer["phase1"]], [1993, 1994])
        for run in answer["phase1"]:  # the first task alone: two classes of fourteen pictures
            self.assertIn("2 classes, 28 pictures", run["adapted"])
            self.assertEqual((len(run["curves"]), run["held_out"]), (2, 2))
        report = (self.dir / "report/report.txt").read_text()
        self.assertIn("phase 1 on the first task of seed 1993", report)
        self.assertIn("Phase 1 on the first task", (self.dir / "report/report.html").read_text())
        self.assertEqual(self.models(), before)

    def test_evaluate_refuses_what_cannot_be_adapted(self):
        words = ["evaluate", "--train", self.task, "--test", self.test_photos, "--phase1", "ssf"]
        self.assertIn("goes on frozen", self.json(*words, "--model", "tiny", code=UNSUPPORTED)["error"])
        self.assertIn("adaptformer", self.json(*words[:-1], "magic", "--model", "vit", code=USAGE)["error"])
        self.json(*words, "--model", "vit", "--open-set", "0.3", code=USAGE)
        self.assertIn("pictures", self.json("evaluate", "--features", "f.npz", "--phase1", "ssf", code=USAGE)["error"])


if __name__ == "__main__":
    main()
