"""What tests of the program share: a tiny backbone, pictures of four colours, a state per test.

    class Some(CliCase): ...
    main()      # of cli_case

Needs nothing but the standard library.
"""
import json
import os
import pathlib
import pty
import shlex
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

    def on_small_disk(self, script):
        """Runs a shell script that sees a disk of 1 MB as the folder `disk`; the state is on it and goes with it. The script
        knows `engram`, and `fill N`, which leaves N bytes free. Skips where nobody may mount."""
        (self.dir / "disk").mkdir()
        self.state = self.dir / "disk/state"
        shell = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c"]
        mount = "mount -t tmpfs -o size=1m none disk"
        if subprocess.run([*shell, mount], cwd=self.dir, capture_output=True).returncode != 0:
            self.skipTest("NOT TESTED: a full disk. It needs unshare --mount, which is refused here")
        words = f"""{mount} || exit 99
            engram() {{ {shlex.quote(str(PROGRAM))} "$@"; }}
            fill() {{ head -c 2000000 /dev/zero > disk/filler 2> /dev/null; truncate -s -"$1" disk/filler; }}
            {script}"""
        done = subprocess.run([*shell, words], cwd=self.dir, capture_output=True, text=True, env=self.environment(), timeout=300)
        self.assertEqual(done.returncode, OK, f"{done.stdout}\n{done.stderr}")
        return done.stdout


def main():
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
