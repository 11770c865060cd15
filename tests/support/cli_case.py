"""What tests of the program share: a tiny backbone, pictures of four colours, a state per test.

    class Some(CliCase): ...
    main()      # of cli_case

Needs nothing but the standard library.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tiny_onnx import COLOURS, colour_picture, tiny_onnx

PROGRAM, BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
COMMANDS = ["demo", "camera", "learn", "classify", "classes", "history", "undo", "relabel", "rename", "forget",
            "export", "import", "merge", "inspect", "verify", "adapt", "evaluate", "plan", "model", "features", "doctor", "bench",
            "service", "bundle", "version"]
OK, SKIPPED, USAGE, DATA, MISSING, UNSUPPORTED, MEMORY, DISK, BUSY = 0, 3, 64, 65, 66, 69, 71, 74, 75


class CliCase(unittest.TestCase):
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


def main():
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
