"""Disks that are full, broken or not to be written, and programs that are stopped: what is kept, and what is said.

Usage: cli_storage_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made on the spot.
"""
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import BUSY, DATA, DISK, MEMORY, OK, PROGRAM, SKIPPED, USAGE, CliCase, main  # noqa: E402
from pty_session import PtySession  # noqa: E402


class Storage(CliCase):
    def many_links(self, count):
        many = self.dir / "many"
        many.mkdir()
        for number in range(count):
            (many / f"{number}.png").symlink_to(self.photos / "red/1.png")
        return many

    def test_learning_that_is_stopped_says_what_is_kept(self):
        many = self.many_links(4000)
        learning = subprocess.Popen([PROGRAM, "learn", "red", many, "--model", "tiny"], text=True,
                                    stderr=subprocess.PIPE, env=self.environment())
        journal = self.state / "journal"
        while not journal.exists() or journal.stat().st_size < 2000:
            self.assertIsNone(learning.poll(), "it ended early")
        learning.send_signal(signal.SIGINT)
        words = learning.communicate(timeout=300)[1]
        self.assertEqual(learning.returncode, BUSY, words)
        self.assertIn("engram learn --end-task", words)
        kept = int(words.split("stopped as asked: ")[1].split()[0])
        self.assertTrue(0 < kept < 4000)
        self.assertIn(f"{kept} samples of an open task", self.run_program("classes").stderr)
        self.assertEqual(self.json("learn", "--end-task")["samples"], kept)
        self.assertEqual(self.run_program("classes").stderr, "")

    def test_a_solve_that_is_stopped_says_what_is_kept(self):
        for hidden in (8000, 12000, 16000):  # a quick machine is done before it can be asked
            self.state = self.dir / f"state-{hidden}"
            code, learning = self.stopped_in_solve("learn", "--tree", self.photos, "--model", "tiny", "--hidden", hidden,
                                                   "--keep-features", "no")
            if code == OK:
                continue
            self.assertEqual(code, BUSY, learning)
            self.assertRegex(learning, "stopped as asked.* 32 pictures are learned and kept but do not answer yet")
            self.assertIn("engram learn --end-task", learning)
            self.assertEqual(self.json("inspect")["open_task_samples"], 32)
            self.assertTrue(self.json("verify")["ok"])
            code, ending = self.stopped_in_solve("learn", "--end-task")
            if code == OK:
                continue
            self.assertEqual(code, BUSY, ending)
            self.assertRegex(ending, "stopped as asked.* The task stays open, with all that was learned")
            self.assertEqual(self.json("inspect")["open_task_samples"], 32)
            self.assertTrue(self.json("learn", "--end-task")["task_ended"])
            return
        self.fail("never stopped in the middle of a solve")

    def stopped_in_solve(self, *words):
        """The exit code, and what was said behind the bar of the solve, when SIGTERM came."""
        with PtySession([PROGRAM, *words], self.environment()) as app:
            app.wait_for("solve  ")
            app.send(signal.SIGTERM)
            code = app.end()
            return code, " ".join(app.text.split())

    def test_a_full_disk_says_what_is_kept(self):
        many = self.many_links(300)
        self.on_small_disk(f"""
            engram learn blue "{self.photos}/blue" --model tiny --quiet || exit 1
            fill 8192
            engram learn red "{self.photos}/red" --json > end.json; [ $? = {DISK} ] || exit 2
            engram learn red "{many}" --json > middle.json; [ $? = {DISK} ] || exit 3
            engram inspect --json > kept.json || exit 4
            fill 0
            for edit in "undo" "forget blue" "relabel 1 red" "rename blue green"; do
                engram $edit --json >> edits.json; [ $? = {DISK} ] || exit 7
            done
            engram learn --end-task --json >> edits.json; [ $? = {DISK} ] || exit 8
            engram inspect --json > after.json || exit 9
            rm disk/filler
            engram learn --end-task --json > ended.json || exit 5
            engram verify --json > verified.json || exit 6""")
        end, middle, kept, after, ended, verified = (json.loads((self.dir / f"{name}.json").read_text())
                                                     for name in ("end", "middle", "kept", "after", "ended", "verified"))
        *edits, still_open = (json.loads(line)["error"] for line in (self.dir / "edits.json").read_text().splitlines())
        self.assertEqual(len(edits), 4)
        for error in edits:
            self.assertRegex(error, "No space left on device.*(Nothing was changed|is as it was before this write); free space")
        self.assertIn("The task stays open, with all that was learned: once that is mended, engram learn --end-task", still_open)
        self.assertEqual(after["digest"], kept["digest"])
        self.assertIn("8 pictures are learned and kept but do not answer yet", end["error"])
        self.assertIn("once that is mended, engram learn --end-task makes them answer, and engram undo", end["error"])
        learned = int(re.search(r"(\d+) of 300 pictures are learned and kept", middle["error"])[1])
        for error in (end["error"], middle["error"]):
            self.assertIn("No space left on device", error)
            self.assertIn("engram learn --end-task", error)
            self.assertIn("engram undo", error)
            self.assertNotIn("repeat", error)
        self.assertTrue(0 < learned < 300)
        self.assertEqual((kept["samples"], kept["open_task_samples"]), (16 + learned, 8 + learned))
        self.assertEqual((ended["samples"], ended["task_ended"], verified["ok"]), (16 + learned, True, True))

    def test_a_limit_of_file_sizes_is_a_failed_write(self):
        self.learn("red", self.photos / "red")
        limit = 'ulimit -f 16; exec "$@"'  # in blocks of 512 or 1024 bytes
        done = subprocess.run(["sh", "-c", limit, "sh", PROGRAM, "learn", "red", self.many_links(600), "--json"],
                              capture_output=True, text=True, env=self.environment(), timeout=300)
        self.assertEqual(done.returncode, DISK, done.stderr)
        error = json.loads(done.stdout)["error"]
        self.assertIn("File too large", error)
        learned = int(re.search(r"(\d+) of 600 pictures are learned and kept", error)[1])
        self.assertEqual(self.json("learn", "--end-task")["samples"], 8 + learned)

    def test_too_little_memory_ends_a_command(self):
        """OpenBLAS asks for ever for what it cannot have."""
        self.learn("red", self.photos / "red")
        codes = set()
        for kilobytes in range(100_000, 1_000_000, 100_000):
            done = subprocess.run(["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", PROGRAM, "classes", "--threads", "2", "--json"],
                                  capture_output=True, text=True, env=self.environment(OPENBLAS_NUM_THREADS="2"), timeout=300)
            self.assertIn(done.returncode, (OK, MEMORY), done.stderr)
            codes.add(done.returncode)
            if done.returncode == MEMORY:
                self.assertIn("not enough memory", json.loads(done.stdout)["error"])
        self.assertIn(MEMORY, codes)

    def test_where_the_demo_writes_is_tried_first(self):
        done = self.run_program("demo", "--model", "tiny", "--out", "/proc", code=DISK)
        self.assertEqual(done.stdout, "")
        self.assertIn("--out", done.stderr)

    def test_a_file_of_the_user_is_not_overwritten(self):
        self.state.mkdir()
        (self.state / "journal").write_text("mine\n")
        done = self.run_program("learn", "red", self.photos / "red", "--model", "tiny", code=USAGE)
        self.assertIn("Nothing was changed", done.stderr)
        self.assertEqual([path.name for path in self.state.iterdir()], ["journal"])
        self.assertEqual((self.state / "journal").read_text(), "mine\n")

    def test_a_demo_that_is_stopped_leaves_nothing(self):
        temporary, out = self.dir / "temporary", self.dir / "out"
        temporary.mkdir()

        def demo(stdout):
            words = ["demo", "--model", "tiny", "--stamps", stamps, "--objects", "300", "--frames", "1", "--views", "1", "--out", out]
            return subprocess.Popen([PROGRAM, *words], text=True, stdout=stdout, stderr=subprocess.PIPE,
                                    env=self.environment(TMPDIR=str(temporary)))

        stamps = self.many_links(300)
        stopped = demo(subprocess.PIPE)
        while " ms " not in stopped.stdout.readline():  # the row of the first object
            self.assertIsNone(stopped.poll(), "it ended early")
        stopped.send_signal(signal.SIGINT)
        words = stopped.communicate(timeout=300)[1]
        self.assertEqual(stopped.returncode, BUSY, words)
        self.assertIn("stopped as asked", words)

        nobody, stdout = os.pipe()
        os.close(nobody)
        unread = demo(stdout)
        os.close(stdout)
        words = unread.communicate(timeout=300)[1]
        self.assertEqual(unread.returncode, DISK, words)
        self.assertIn("could not be written", words)
        self.assertEqual((list(temporary.iterdir()), out.exists()), ([], False))

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

    def test_a_state_that_may_not_be_read_is_not_called_damaged(self):
        self.learn("red", self.photos / "red")
        for name in ("readout", "journal"):
            (self.state / name).rename(self.dir / "kept")
            (self.state / name).symlink_to(name)  # cannot be opened, by root neither
            error = self.json("verify", code=DISK)
            self.assertIn("could not be checked", error["error"])
            (self.state / name).unlink()
            (self.dir / "kept").rename(self.state / name)
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

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        self.learn("red", self.photos / "red")
        picture = self.photos / "red/1.png"
        for words in (["classify", picture], ["classify", picture, "--json"], ["classes"],
                      ["--help"], ["learn", "red", picture]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE,
                                      text=True, env=self.environment())
            self.assertEqual(done.returncode, DISK, f"{words}\n{done.stderr}")
            self.assertIn("the answer could not be written", done.stderr)
        self.assertEqual(self.json("inspect")["samples"], 9)
        for closed in ((1,), (2,), (0, 1, 2)):  # their numbers must not become the state's
            shell = f'"$@" {" ".join(f"{stream}>&-" for stream in closed)}'
            done = subprocess.run(["sh", "-c", shell, "sh", PROGRAM, "learn", "red", picture,
                                   "missing.png"], capture_output=True, env=self.environment())
            self.assertEqual(done.returncode, DISK if 1 in closed else SKIPPED)
            self.assertTrue(self.json("verify")["ok"])
        self.assertEqual(self.json("inspect")["samples"], 12)


if __name__ == "__main__":
    main()
