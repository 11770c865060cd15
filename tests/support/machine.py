"""Another system in namespaces of its own, without a network: its programs run, its page answers, its files can be put.

BootedMachine boots it with its own systemd; EmulatedMachine is an aarch64 userland under qemu.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 180  # seconds; a machine may be busy
PORT = 8477

# Runs in the machine's network, with this machine's Python: a small system has none.
ASK = """
import json, sys, urllib.request, urllib.error
path, body = sys.argv[1], sys.argv[2]
request = urllib.request.Request(f"http://127.0.0.1:{int(sys.argv[3])}{path}", data=body.encode() if body else None,
                                 headers={"X-Engram": "1", "Content-Type": "application/json"})
try:
    answer = urllib.request.urlopen(request, timeout=60)
except urllib.error.HTTPError as refused:
    answer = refused
except OSError as gone:
    print(json.dumps([0, str(gone)]))
    sys.exit()
print(json.dumps([answer.status, answer.read().decode()]))
"""


def eventually(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def one_by_one(steps):
    """Runs them, each with a line of how long it took and what it says."""
    for step in steps:
        begin = time.monotonic()
        said = step()
        print(f"ok  {step.__name__:<24} {time.monotonic() - begin:5.1f} s   {said}", flush=True)


class Machine:
    """A copy of the folder `root`, gone when it ends. What starts its process 1 is `starter`, a Popen."""

    environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid"]

    def __init__(self, root):
        self.place = tempfile.TemporaryDirectory(prefix="engram-machine-")
        self.folder = pathlib.Path(self.place.name) / "root"
        (self.folder / "dev").mkdir(parents=True)  # devices are whoever's starts it
        parts = [str(part) for part in pathlib.Path(root).iterdir() if part.name != "dev"]
        subprocess.run(["cp", "-a", "--reflink=auto", *parts, str(self.folder)], check=True)
        self.log = open(pathlib.Path(self.place.name) / "console", "w+b")
        self.starter = None
        self.leader = 0

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.starter:
            self.end()
        self.log.close()
        self.place.cleanup()

    def console(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def find_leader(self):
        """The machine's process 1 as this machine numbers it; 0: there is none yet."""
        for entry in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                fields = dict(line.split(":\t", 1) for line in entry.read_text().splitlines() if ":\t" in line)
            except OSError:
                continue
            if fields["PPid"] == str(self.starter.pid) and fields["NSpid"].split()[1:] == ["1"]:
                return int(fields["Pid"])
        return 0

    def inside(self, words):
        return ["nsenter", "--target", str(self.leader), *self.namespaces, "--root", "--wd", "env", "-i",
                *self.environment, *map(str, words)]

    def run(self, *words, check=0):
        """Runs a program there. `check`: the exit code that it must have; None: any."""
        done = subprocess.run(self.inside(words), capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL)
        if check is not None and done.returncode != check:
            raise AssertionError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def engram(self, *words, check=0):
        """What engram answers there, as JSON."""
        return json.loads(self.run("engram", *words, "--json", check=check).stdout.splitlines()[-1])

    def ask(self, path, body=None):
        """(status, text) of the camera app's page there; status 0: nobody listens."""
        done = subprocess.run(["nsenter", "--target", str(self.leader), "--net", sys.executable, "-c", ASK, path,
                               json.dumps(body) if body is not None else "", str(PORT)],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        return tuple(json.loads(done.stdout))

    def state(self):
        status, text = self.ask("/api/state")
        assert status == 200, text
        return json.loads(text)

    def classes(self):
        """{label: samples}, which the app knows when it has read what was learned."""
        while (told := self.state())["opening"]:
            time.sleep(0.1)
        return {known["label"]: known["samples"] for known in told["classes"]}

    def tap(self, label):
        status, text = self.ask("/api/learn", {"label": label})
        assert status == 200, text

    def put(self, file, path):
        target = self.folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)

    def interfaces(self):
        return self.run("ls", "/sys/class/net").stdout.split()

    def installed(self):
        """The version of engram's package."""
        return self.run("dpkg-query", "--show", "--showformat=${Version}", "engram").stdout
