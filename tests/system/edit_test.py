"""undo, relabel, rename, forget, merge, history: what the commands say and leave behind.

Usage: edit_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made here.
"""
import fcntl
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import tiny_onnx  # noqa: E402
from cli_case import BUSY, MISSING, OK, UNSUPPORTED, USAGE, CliCase, main  # noqa: E402

COLOURS = list(tiny_onnx.COLOURS)


class Edit(CliCase):
    def run_program(self, *words, state="state", code=OK):
        return super().run_program("--state", self.dir / state, *words, code=code)

    def json(self, *words, state="state", code=OK):
        return json.loads(self.run_program(*words, "--json", state=state, code=code).stdout)

    def learn(self, colour, numbers=range(6), label=None, state="state", options=()):
        files = [self.photos / colour / f"{n}.png" for n in numbers]
        model = [] if (self.dir / state).exists() else ["--model", "tiny", *options]
        return self.json("learn", *model, label or colour, *files, state=state)

    def digest(self, state="state"):
        verified = self.json("verify", state=state)
        self.assertTrue(verified["ok"], verified)
        return verified["digest"]

    def classes(self, state="state"):
        return {c["label"]: c["samples"] for c in self.json("classes", state=state)["classes"]}

    def answer(self, picture, state="state"):
        return self.json("classify", picture, state=state)["label"]

    def refused(self, *words, code=USAGE, says="", state="state"):
        """Nothing is changed, and a sentence says why."""
        before = self.digest(state)
        error = self.json(*words, code=code, state=state)["error"]
        self.assertIn(says, error)
        self.assertGreater(len(error), 20)
        self.assertEqual(self.digest(state), before)

    # ---- undo ------------------------------------------------------------------------------------
    def test_undo_takes_back_one_command_after_another(self):
        digests = []
        for colour in COLOURS:
            self.learn(colour)
            digests.append(self.digest())
        text = self.run_program("undo").stdout
        self.assertIn(f"undone: learn {COLOURS[-1]} (6 samples)", text)
        self.assertEqual(self.digest(), digests[-2])
        self.assertNotEqual(self.answer(self.photos / COLOURS[-1] / "1.png"), COLOURS[-1])
        answer = self.json("undo", 2)
        undone = [step["classes"] for step in answer["undone"]]
        self.assertEqual(undone, [{COLOURS[2]: 6}, {COLOURS[1]: 6}])
        self.assertEqual(self.digest(), digests[0])
        self.assertEqual(self.classes(), {COLOURS[0]: 6})

    def test_undo_to_the_beginning_and_on(self):
        self.learn("red", [0, 1])
        first = self.digest()
        self.refused("undo", 2, says="past the beginning")
        for wrong in ("0", "-1", "many"):
            self.refused("undo", wrong)
        self.assertIn("as new", self.run_program("undo").stdout)
        self.refused("undo", says="no step")
        self.refused("forget", "red", code=MISSING, says="nothing was learned")
        self.json("classify", self.photos / "red/0.png", code=MISSING)
        self.assertIn("nothing", self.run_program("classes").stdout)
        self.learn("red", [0, 1])
        self.assertEqual(self.digest(), first)
        self.assertEqual(self.json("history")["steps"][0]["first_id"], 3)

    def test_a_command_of_many_batches_is_one_step(self):
        self.learn("blue", [0])
        before = self.digest()
        self.run_program("learn", "--tree", self.photos)
        history = self.json("history")
        self.assertEqual([s["samples"] for s in history["steps"]], [8 * len(COLOURS), 1])
        self.assertEqual(history["in_sums_only"], 0)
        self.assertIn("2-", self.run_program("history").stdout)
        self.run_program("undo")
        self.assertEqual(self.digest(), before)

    # ---- names -----------------------------------------------------------------------------------
    def test_relabel_the_last_step_or_single_samples(self):
        self.learn("red")
        self.learn("blue", label="red")
        text = self.run_program("relabel", "--last", "blue").stdout
        self.assertIn("relabelled: 6 samples from red to blue", text)
        self.assertEqual(self.classes(), {"red": 6, "blue": 6})
        self.assertEqual(self.answer(self.photos / "blue/2.png"), "blue")
        right = self.digest()
        self.json("relabel", "1,3-4", "pink")
        self.assertEqual(self.classes(), {"red": 3, "blue": 6, "pink": 3})
        self.json("relabel", "1-4", "red")
        self.assertEqual(self.digest(), right)
        self.json("relabel", "--last", "2", "grey")
        self.assertEqual(self.classes(), {"grey": 12})
        self.refused("relabel", "--last", "grey", says="already")
        self.refused("relabel", "13", "red", code=MISSING, says="no sample 13")
        for wrong in (["x", "red"], ["1,", "red"], ["5-3", "red"], ["1"], [], ["1", "2", "3"],
                      ["1", ""], ["1", "two\nlines"], ["1-99999999999", "red"], ["--last", "x", "y"],
                      ["--last", "9", "red"]):
            self.refused("relabel", *wrong)

    def test_rename_and_unite(self):
        for colour in COLOURS[:3]:
            self.learn(colour)
        one, two, three = COLOURS[:3]
        self.assertIn("renamed", self.run_program("rename", one, "new name").stdout)
        self.assertEqual(self.answer(self.photos / one / "1.png"), "new name")
        self.json("rename", two, "new name")
        self.assertEqual(self.classes(), {"new name": 12, three: 6})
        self.refused("rename", two, "x", code=MISSING, says="no class")
        self.refused("rename", "new nam", "x", code=MISSING, says="Did you mean new name?")
        self.refused("rename", three, three, says="already")
        self.refused("rename", three)
        self.learn("red", label="new name", state="fresh")
        # The same as having said it at once.
        for colour in (one, two):
            self.learn(colour, label="new name", state="at once")
        self.learn(three, state="at once")
        self.assertEqual(self.digest(), self.digest("at once"))

    def test_forget(self):
        for colour in COLOURS:
            self.learn(colour)
        answer = self.json("forget", "red")
        self.assertEqual((answer["touched"], answer["gone"]), ({"red": 6}, ["red"]))
        self.assertNotIn("red", self.classes())
        for colour in COLOURS:
            if colour != "red":
                self.learn(colour, state="without")
        self.assertEqual(self.digest(), self.digest("without"))
        self.refused("forget", "red", code=MISSING, says="no class red")
        self.refused("forget", "gren", code=MISSING, says="Did you mean green?")
        self.refused("forget")

    # ---- sums with their samples -----------------------------------------------------------------
    def test_many_samples_are_edited_as_few(self):
        small = ["--hidden", "100"]  # sums beyond 50 samples
        for state, without in (("state", ()), ("without", COLOURS[:1])):
            for _ in range(3):
                for colour in COLOURS:
                    if colour not in without:
                        self.learn(colour, state=state, options=small)
        count = 18 * len(COLOURS)
        inspected = self.json("inspect")
        self.assertEqual((inspected["form"], inspected["samples"]), ("dense", count))
        judged = self.json("classes")
        self.assertEqual(judged["judged_samples"], count)
        self.assertTrue(all("accuracy" in c for c in judged["classes"]), judged)
        self.assertIn([1, 1 + 6 * len(COLOURS)], [d["samples"] for d in judged["duplicates"]])
        before = self.digest()
        self.run_program("relabel", "1,2", "other")
        self.run_program("relabel", "1,2", COLOURS[0])
        self.assertEqual(self.digest(), before)
        self.learn(COLOURS[1])
        self.run_program("forget", COLOURS[0])  # the oldest, and a snapshot
        self.run_program("undo")
        self.assertEqual(self.digest(), self.digest("without"))
        self.assertEqual(len(self.json("history")["steps"]), 3 * (len(COLOURS) - 1))
        self.run_program("forget", COLOURS[1])  # once more: nothing was lost with the first
        self.run_program("forget", COLOURS[1], state="without")
        self.assertEqual(self.digest(), self.digest("without"))

    # ---- sums only -------------------------------------------------------------------------------
    def test_sums_only(self):
        keep = ["--keep-features", "no"]
        self.learn("red", options=keep)
        self.learn("blue")
        blue = self.digest()
        self.learn("green")
        self.run_program("undo")
        self.assertEqual(self.digest(), blue)
        self.run_program("forget", "blue")  # writes a snapshot: what came before it is sums only
        self.refused("undo", code=UNSUPPORTED, says="--keep-features no")
        self.refused("forget", "red", code=UNSUPPORTED, says="sums alone")
        self.refused("relabel", "1", "x", code=UNSUPPORTED, says="The sample 1")
        self.assertIn("6 samples more are in the sums only", self.run_program("history").stdout)
        self.json("rename", "red", "crimson")
        self.learn("blue")
        self.run_program("undo")
        self.assertEqual(self.classes(), {"crimson": 6})

    # ---- merge -----------------------------------------------------------------------------------
    def test_merge_is_one_learner_that_saw_it_all(self):
        keep = {"kitchen": [], "cellar": ["--keep-features", "no"], "attic": []}
        for state, colours in (("kitchen", COLOURS[:2]), ("cellar", COLOURS[1:3]),
                               ("attic", COLOURS[3:])):
            for colour in colours:
                self.learn(colour, [len(state) % 3, 4], state=state, options=keep[state])
                self.learn(colour, [len(state) % 3, 4], state="one")
        answer = self.json("merge", "kitchen", "cellar", "attic", "-o", "house")
        self.assertEqual(answer["digest"], self.digest("one"))
        self.assertEqual(answer["digest"], self.digest("house"))
        self.assertEqual(self.classes("house"), self.classes("one"))
        self.assertEqual(answer["form"], "dense")
        picture = self.photos / COLOURS[0] / "3.png"
        self.assertEqual(self.answer(picture, "house"), self.answer(picture, "one"))
        both = self.json("merge", "kitchen", "attic", "-o", "upper")
        self.assertEqual(both["samples"], 2 * (2 + len(COLOURS) - 3))
        self.learn("red", state="house")  # goes on as any other

    def test_merge_refuses_what_does_not_add_up(self):
        self.learn("red", [0, 1], state="a")
        self.learn("blue", [0, 1], state="b")
        self.learn("red", [0], state="seed", options=["--seed", "7"])
        self.learn("red", [0], state="small", options=["--hidden", "300"])
        self.learn("red", [0], state="float", options=["--arithmetic", "float"])
        self.json("learn", "--model", "other", "red", self.photos / "red/0.png", state="net")
        shutil.copytree(self.dir / "a", self.dir / "copy")
        for other, says in (("seed", "seed 1 and 7"), ("small", "hidden units 2000 and 300"),
                            ("float", "arithmetic exact and float"), ("net", "backbone"),
                            ("copy", "count twice"), ("a", "count twice")):
            error = self.json("merge", "a", other, "-o", "c", code=USAGE)["error"]
            self.assertIn(says, error)
            self.assertFalse((self.dir / "c/snapshot").exists())
        self.json("merge", "a", "nowhere", "-o", "c", code=MISSING)
        self.json("merge", "a", "-o", "c", code=USAGE)
        self.json("merge", "a", "b", code=USAGE)
        before = self.digest("b")
        self.assertIn("already", self.json("merge", "a", "b", "-o", "b", code=USAGE)["error"])
        self.assertEqual(self.digest("b"), before)
        self.json("merge", "a", "b", "-o", "c")
        self.assertIn("count twice", self.json("merge", "c", "a", "-o", "d", code=USAGE)["error"])

    def test_merge_reads_beside_a_writer(self):
        self.learn("red", [0, 1], state="a")
        self.learn("blue", [0, 1], state="b")
        with open(self.dir / "a/lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.json("merge", "a", "b", "-o", "c")
            self.json("undo", state="a", code=BUSY)
            self.json("history", state="a")
        floats = ["--arithmetic", "float"]
        self.learn("red", [0, 1], state="fa", options=floats)
        self.learn("blue", [0, 1], state="fb", options=floats)
        self.assertIn("round", self.json("merge", "fa", "fb", "-o", "fc")["notes"][0])
        self.assertEqual(self.classes("fc"), {"red": 2, "blue": 2})


if __name__ == "__main__":
    main()
