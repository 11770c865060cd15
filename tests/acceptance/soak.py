"""Days before a camera in less time: the camera app on the stage as fast as it goes, taught over HTTP without a pause.

    soak.py <engram> <build folder> <source folder> [--seconds 3600] [--kill-every S] [--hidden M] [--classes K] [--taps N]

Rounds of one class each: forget it if it is known, tap N times, rename, relabel or undo, end the task, while two watchers
come and go as browsers do. So the state stays of one size, and so must everything else:
- memory: its slope over the time after the first K rounds and WARM seconds (the app remembers what it saw for a minute),
  times that time, is at most GROWTH;
- open files and threads: no more in the last quarter than there were in the first;
- taps: every acknowledged one is there at the end, and no other, by count of each class in the app, on disk, and by the
  digest of the statistics that the app had against that of the state read again (`engram verify`).
With --kill-every S the app is killed (kill -9) after S/2 to 3S/2 seconds, again and again: then each new start must
have what was acknowledged, and of the order under way all or nothing. Exit code 1: lost, or grown.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from camera_app import BROKEN, CameraApp, Refused, Watcher  # noqa: E402
from model_home import STAMPS, model_home, skip  # noqa: E402

GROWTH = 8 << 20  # bytes; the allocator's own ups and downs are below it
MEGABYTE = 1 << 20
WARM = 90  # seconds


class Lost(Exception):
    pass


class Teacher:
    """Orders one after another, and what the state must hold after each."""

    def __init__(self, classes, taps, on_order):
        self.classes, self.taps, self.on_order = classes, taps, on_order
        self.known = {}          # {label: samples}: acknowledged
        self.under_way = None    # the same, if the order under way is carried out
        self.round = self.orders = self.acknowledged = 0

    def order(self, app, path, body, after):
        self.under_way = after
        while True:
            try:
                app.post(path, body)
                break
            except Refused as refused:
                if refused.status == 504 and self.was_carried_out(app):  # the machine stood still meanwhile
                    break
                if refused.status not in (503, 504):  # 503: no picture yet, or orders wait: asked again
                    raise
                time.sleep(0.01)
        self.known, self.under_way = after, None
        self.orders += 1
        self.on_order(app)

    def was_carried_out(self, app):
        """The order under way, whose answer came too late."""
        while app.get("/api/state")["learning"]:
            time.sleep(0.01)
        found = app.counts()
        if found not in (self.known, self.under_way):
            raise Lost(f"after an answer that came too late: acknowledged {self.known}, found {found}")
        return found != self.known or self.under_way == self.known

    def with_samples(self, label, change):
        left = self.known.get(label, 0) + change
        return {**{k: v for k, v in self.known.items() if k != label}, **({label: left} if left else {})}

    def tap(self, app, label):
        self.order(app, "/api/learn", {"label": label}, self.with_samples(label, 1))
        self.acknowledged += 1

    def teach(self, app):
        """One round; what a kill left of one is forgotten first, as all of its class."""
        label, draft = f"thing {self.round % self.classes}", "draft"
        for old in (label, draft):
            if old in self.known:
                self.order(app, "/api/forget", {"label": old}, self.with_samples(old, -self.known[old]))
        for _ in range(self.taps):
            self.tap(app, draft)
        all_of_it = {**self.with_samples(draft, -self.taps), label: self.taps}
        self.order(app, "/api/rename", {"from": draft, "to": label}, all_of_it)
        self.tap(app, draft)
        if self.round % 2:
            self.order(app, "/api/undo", {"steps": 1}, self.with_samples(draft, -1))
        else:
            self.order(app, "/api/relabel", {"label": label}, {**self.with_samples(draft, -1), label: self.taps + 1})
        self.order(app, "/api/end-task", {}, self.known)
        self.round += 1

    def agree(self, found, when):
        """What was found must be what was acknowledged, or that with the order under way."""
        if found not in (self.known, self.under_way):
            raise Lost(f"{when}: acknowledged {self.known}, under way {self.under_way}, found {found}")
        self.known, self.under_way = found, None


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.state = self.folder / "state"
        self.environment = {**os.environ, "ENGRAM_HOME": model_home(options.engram, options.build, options.source),
                            "ENGRAM_STATE": str(self.state)}
        self.teacher = Teacher(options.classes, options.taps, self.look)
        self.draw = random.Random(1)
        self.kills = self.visits = 0
        self.samples = []  # (seconds, taps, resident, files, threads) once a second, since it is warm
        self.began = self.looked_at = 0.0
        self.figures = None  # the app's own, at the end

    def start(self):
        hidden = [] if self.state.exists() else ["--hidden", str(self.options.hidden)]
        return CameraApp([self.options.engram, "camera", "stage://?fps=0&hold=10", "--fps", "1000", *hidden,
                          "--quiet-time", "0.5"], self.environment, self.folder / "log")

    def look(self, app):
        now = time.monotonic()
        if now < self.looked_at + 1:
            return
        self.looked_at = now
        if self.teacher.round >= self.options.classes and now > self.began + WARM:
            self.samples.append((now, self.teacher.acknowledged, app.resident(), app.files(), app.threads()))

    def run(self):
        self.began = time.monotonic()
        end = self.began + self.options.seconds
        while self.figures is None:
            with self.start() as app:
                app.wait_for_picture()
                self.teacher.agree(app.counts(), f"start {self.kills + 1}")
                watchers = [Watcher(app, path, 3) for path in ("/video.mjpeg", "/api/events")]
                try:
                    self.run_once(app, end)
                finally:
                    for watcher in watchers:
                        watcher.end()
                        self.visits += watcher.visits

    def run_once(self, app, end):
        """Until it is killed, or until the end, when it is stopped and compared with the disk."""
        every = self.options.kill_every
        killer = threading.Timer(self.draw.uniform(0.5, 1.5) * every, app.kill)
        if every and time.monotonic() < end:
            killer.start()
        try:
            while time.monotonic() < end:
                self.teacher.teach(app)
            killer.cancel()
            self.finish(app)
        except (*BROKEN, FileNotFoundError):
            if not every or app.process.wait() != -signal.SIGKILL:
                raise Lost(f"the app ended by itself: {app.said()}") from None
            self.kills += 1

    def finish(self, app):
        self.teacher.agree(app.counts(), "the app at the end")
        while (told := app.get("/api/state"))["open_samples"] or told["learning"] or not told["digest"]:
            time.sleep(0.1)
        digest = told["digest"]
        self.figures = told
        self.stopped, code = app.stop()
        verified = self.ask("verify")
        classes = {one["label"]: one["samples"] for one in self.ask("classes")["classes"]}
        self.teacher.agree(classes, "the disk at the end")
        if code != 0 or verified["digest"] != digest:
            raise Lost(f"exit code {code}; the app had the digest {digest}, the disk has {verified['digest']}")

    def ask(self, command):
        done = subprocess.run([self.options.engram, command, "--json"], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise Lost(f"{command}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    # ---- figures ---------------------------------------------------------------------------------
    def report(self):
        """Prints them; whether nothing grew."""
        teacher, told = self.teacher, self.figures
        print(f"{self.options.seconds:.0f} s: {teacher.round} rounds, {teacher.orders} orders, {teacher.acknowledged} taps, "
              f"{told['samples']} samples of {len(told['classes'])} classes in the end ({told['form']}), "
              f"{told['looks_per_second']:.0f} frames per second, {self.visits} visits of watchers")
        print(f"stopped in {self.stopped:.2f} s; every acknowledged tap is there, by count and by digest")
        if self.options.kill_every:
            print(f"killed {self.kills} times")
            return True
        if len(self.samples) < 8:
            print(f"too short to say whether memory grows: {teacher.round} rounds, and only those after the first "
                  f"{self.options.classes} and {WARM} s count")
            return False
        slope, taps_slope = slope_of(self.samples, 0), slope_of(self.samples, 1)
        seconds = self.samples[-1][0] - self.samples[0][0]
        print(f"memory when warm: {self.samples[0][2] / MEGABYTE:.1f} MB, at the end "
              f"{self.samples[-1][2] / MEGABYTE:.1f} MB, at most {max(s[2] for s in self.samples) / MEGABYTE:.1f} MB; "
              f"slope {slope * 60 / 1024:.1f} KB a minute, {taps_slope * 1000 / 1024:.1f} KB in 1 000 taps")
        grown = [f"memory by {slope * seconds / MEGABYTE:.1f} MB"] if slope * seconds > GROWTH else []
        quarter = len(self.samples) // 4
        for name, at in (("open files", 3), ("threads", 4)):
            first, last = (max(s[at] for s in part) for part in (self.samples[:quarter], self.samples[-quarter:]))
            print(f"{name}: at most {first} in the first quarter, {last} in the last")
            if last > first:
                grown.append(f"{name} from {first} to {last}")
        if grown:
            print("GROWN: " + ", ".join(grown))
        return not grown


def slope_of(samples, by):
    """Bytes of memory per unit of column `by`: least squares."""
    middle = sum(s[by] for s in samples) / len(samples)
    return (sum((s[by] - middle) * s[2] for s in samples) /
            max(sum((s[by] - middle) ** 2 for s in samples), 1e-9))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("engram", "build", "source"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--kill-every", type=float, default=0)
    parser.add_argument("--hidden", type=int, default=1000)
    parser.add_argument("--classes", type=int, default=30)
    parser.add_argument("--taps", type=int, default=20)
    options = parser.parse_args()
    if not os.path.isdir(STAMPS):
        skip(f"{STAMPS} is missing")
    with tempfile.TemporaryDirectory(prefix="engram-soak-") as folder:
        soak = Soak(options, folder)
        try:
            soak.run()
        except Lost as lost:
            sys.exit(f"LOST: {lost}")
        sys.exit(0 if soak.report() else 1)


main()
