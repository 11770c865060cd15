"""export, import, merge and history --audit: what a device learned, carried to another.

Usage: fleet_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made here.
"""
import json
import pathlib
import resource
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import tiny_onnx  # noqa: E402
from cli_case import DATA, MISSING, OK, PROGRAM, USAGE, CliCase, main  # noqa: E402

COLOURS = list(tiny_onnx.COLOURS)
DISK = 74


class Fleet(CliCase):
    def run_program(self, *words, state="state", code=OK):
        return super().run_program("--state", self.dir / state, *words, code=code)

    def json(self, *words, state="state", code=OK):
        return json.loads(self.run_program(*words, "--json", state=state, code=code).stdout)

    def learn(self, colour, numbers=range(6), state="state", options=("--model", "tiny")):
        files = [self.photos / colour / f"{n}.png" for n in numbers]
        new = [] if (self.dir / state).exists() else options
        return self.json("learn", *new, colour, *files, state=state)

    def digest(self, state="state"):
        verified = self.json("verify", state=state)
        self.assertEqual((verified["ok"], verified["findings"]), (True, []))
        return verified["digest"]

    def answers(self, state):
        done = self.run_program("classify", self.test_photos, "--json", state=state)
        return [(a["file"], a["label"], a["top"]) for a in map(json.loads, done.stdout.splitlines())]

    def audit(self, *words, state="state"):
        return self.json("history", "--audit", *words, state=state)["audit"]

    def refused(self, *words, code, says, state="state"):
        error = self.json(*words, code=code, state=state)["error"]
        self.assertIn(says, error)

    def test_from_one_device_to_another(self):
        for colour in COLOURS[:3]:
            self.learn(colour)
        self.run_program("undo")
        answer = self.json("export", "kitchen.engram", "--device", "kitchen")
        self.assertEqual((answer["device"], answer["samples"], answer["classes"]), ("kitchen", 12, 2))
        self.assertEqual(answer["bytes"], (self.dir / "kitchen.engram").stat().st_size)
        self.assertEqual(answer["digest"], self.digest())
        text = self.run_program("import", "kitchen.engram", "--device", "desk", state="desk").stdout
        self.assertIn("kitchen.engram of kitchen", text)
        self.assertEqual(self.digest("desk"), self.digest())
        self.assertEqual(self.answers("desk"), self.answers("state"))
        steps = self.json("history")["steps"]
        self.assertEqual(self.json("history", state="desk")["steps"], steps)
        trail = self.audit(state="desk")
        self.assertEqual([(e["what"], e["samples"], e["classes"]) for e in trail],
                         [("created", 0, 0), ("exported", 12, 2), ("imported", 12, 2)])
        self.assertEqual([e["device"] for e in trail], [socket.gethostname(), "kitchen", "desk"])
        self.assertEqual(trail[0]["state"], trail[1]["state"])
        self.assertNotEqual(trail[1]["state"], trail[2]["state"])
        self.assertEqual([e["digest"] for e in trail[1:]], [self.digest()] * 2)
        self.assertEqual(self.audit("kitchen.engram"), trail[:2])
        table = self.run_program("history", "--audit", state="desk").stdout
        for word in ("device", "kitchen", "imported", trail[2]["state"]):
            self.assertIn(word, table)
        # It goes on there.
        self.learn(COLOURS[3], state="desk")
        self.assertEqual(self.json("inspect", state="desk")["samples"], 18)

    def test_a_house_of_files_and_folders(self):
        for colour, state in zip(COLOURS, "abcd"):
            self.learn(colour, state=state, options=["--model", "tiny", "--keep-features",
                                                     "no" if state == "b" else "yes"])
            self.learn(colour, state="all")
            self.json("export", f"{state}.engram", "--device", state, state=state)
        self.json("merge", "a.engram", "b.engram", "-o", "ab", "--device", "house")
        self.json("merge", "b.engram", "a", "-o", "ba")
        self.assertEqual(self.digest("ab"), self.digest("ba"))
        self.json("export", "ab.engram", state="ab")
        answer = self.json("merge", "d", "ab.engram", "c.engram", "-o", "house", "--device", "house")
        self.assertEqual(answer["digest"], self.digest("all"))
        self.assertEqual(answer["classes"], {c: 6 for c in COLOURS})
        self.assertEqual([a[1] for a in self.answers("house")], [a[1] for a in self.answers("all")])
        trail = [(e["what"], e["device"], e["samples"]) for e in self.audit(state="house")]
        for state in "abc":
            self.assertIn(("exported", state, 6), trail)
        self.assertIn(("merged", "house", 12), trail)
        self.assertEqual(trail[-1], ("merged", "house", 24))
        for again in ("a.engram", "b", "ab.engram", "house"):
            self.refused("merge", "house", again, "-o", "new", code=USAGE, says="count twice")
        self.json("import", "a.engram", state="copy")
        self.refused("merge", "copy", "a", "-o", "new", code=USAGE, says="count twice")
        self.assertFalse((self.dir / "new").exists())

    def test_nothing_is_overwritten_unasked(self):
        self.learn("red")
        self.json("export", "file.engram")
        first = (self.dir / "file.engram").read_bytes()
        self.learn("blue")
        self.refused("export", "file.engram", code=USAGE, says="--force")
        self.assertEqual((self.dir / "file.engram").read_bytes(), first)
        self.json("export", "file.engram", "--force")
        self.assertEqual(self.audit("file.engram")[-1]["samples"], 12)
        before = self.digest()
        self.refused("import", "file.engram", code=USAGE, says="engram merge")
        (self.dir / "folder").mkdir()
        for force in ([], ["--force"]):
            self.refused("export", "folder", *force, code=USAGE, says="is a folder")
            self.refused("export", "/dev/null", *force, code=USAGE, says="no plain file")
        self.refused("export", "state/snapshot", "--force", code=USAGE, says="belongs to the state")
        self.refused("merge", "state", "file.engram", "-o", "state", code=USAGE, says="already")
        self.assertEqual(self.digest(), before)

    def test_bad_files(self):
        self.learn("red")
        self.learn("blue", state="other")
        self.json("export", "good.engram", state="other")
        good = (self.dir / "good.engram").read_bytes()
        before = self.digest()

        def bad(content, code, says):
            (self.dir / "bad.engram").write_bytes(content)
            for words in (["import", "bad.engram"], ["merge", "state", "bad.engram", "-o", "new"],
                          ["history", "--audit", "bad.engram"]):
                self.refused(*words, code=code, says=says, state="new" if words[0] == "import" else "state")
            self.assertFalse((self.dir / "new").exists())

        bad(b"", DATA, "within its header")
        bad(b"not a state, but long enough to be looked at" * 99, DATA, "not an Engram state file")
        bad(good[:-1], DATA, "bytes where its header says")
        bad(good + b"\0", DATA, "bytes where its header says")
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 4
        bad(flipped, DATA, "checksum does not match")
        bad((self.dir / "other/snapshot").read_bytes(), DATA, "no exported state")
        self.refused("import", "none.engram", code=MISSING, says="none.engram", state="new")
        self.refused("import", "other", code=DATA, says="other", state="new")
        self.refused("merge", "state", "none", "-o", "new", code=MISSING, says="none")
        self.refused("export", "x.engram", code=MISSING, says="no state", state="new")
        self.refused("export", "x.engram", "--device", "two\nlines", code=USAGE, says="name of a device")
        self.refused("export", "no/such/folder/x.engram", code=DISK, says="No such file")
        self.run_program("export", code=USAGE)
        self.run_program("import", code=USAGE, state="new")
        self.run_program("history", "good.engram", code=USAGE)
        self.assertEqual(self.digest(), before)
        self.assertEqual(sorted(p.name for p in self.dir.glob("*.new")), [])

    def test_states_that_do_not_go_together(self):
        self.learn("red")
        for name, options, says in (("seed", ["--model", "tiny", "--seed", "2"], "seed 1 and 2"),
                                    ("backbone", ["--model", "other"], "backbone")):
            self.learn("blue", state=name, options=options)
            self.json("export", f"{name}.engram", state=name)
            self.refused("merge", "state", f"{name}.engram", "-o", "new", code=USAGE, says=says)
        self.assertFalse((self.dir / "new").exists())

    def test_full_disk(self):
        self.learn("red")
        before = self.digest()
        self.json("export", "file.engram")

        def limited():  # no file may have more: as a disk that is full
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        for words in (["export", "full.engram"], ["--state", "new", "import", "file.engram"]):
            done = subprocess.run([str(PROGRAM), *words, "--json"], capture_output=True, text=True,
                                  env=self.environment(), cwd=self.dir, preexec_fn=limited,
                                  restore_signals=False)  # SIGXFSZ stays ignored
            self.assertEqual(done.returncode, DISK, done.stderr)
            self.assertIn("too large", json.loads(done.stdout)["error"])
        self.assertFalse((self.dir / "full.engram").exists())
        self.assertFalse((self.dir / "full.engram.new").exists())
        self.json("import", "file.engram", state="new")
        self.assertEqual(self.digest("new"), before)
        self.assertEqual(self.digest(), before)


if __name__ == "__main__":
    main()
