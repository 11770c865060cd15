"""A machine that boots: the systemd of a root folder, in a container with namespaces of its own and without a network.

    with BootedMachine(root) as machine:      # a copy of it, which is gone afterwards
        machine.run("systemctl", "is-active", "engram")
        machine.get("/health")

Needs root and systemd-nspawn (Debian's package systemd-container); why_not() says what is missing.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 180  # seconds; a machine may be busy
PORT = 8477
REBOOT = 133  # systemd-nspawn's exit code when the machine wants to be started again

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


def why_not():
    """What keeps machines from booting here; empty: nothing."""
    if os.getuid() != 0:
        return "only root can boot a machine"
    if not shutil.which("systemd-nspawn"):
        return "there is no systemd-nspawn (apt-get install systemd-container)"
    return ""


class BootedMachine:
    def __init__(self, root):
        self.place = tempfile.TemporaryDirectory(prefix="engram-machine-")
        self.folder = pathlib.Path(self.place.name) / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", str(root), str(self.folder)], check=True)
        self.log = open(pathlib.Path(self.place.name) / "console", "w+b")
        self.nspawn = None
        self.leader = 0

    def start(self):
        # One hierarchy of control groups, as on today's systems, whatever this machine has.
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", f"--directory={self.folder}", "--machine=engram-test", "--boot",
             "--private-network", "--register=no", "--keep-unit", "--link-journal=no", "--console=pipe",
             "--capability=CAP_BPF,CAP_PERFMON,CAP_NET_ADMIN", "--system-call-filter=bpf"],  # as filters of addresses need
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=dict(os.environ, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY="1"))
        self.wait_until_up()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.nspawn.poll() is None:
            self.nspawn.send_signal(signal.SIGTERM)  # it lets the machine power off
            try:
                self.nspawn.wait(30)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
        self.nspawn.wait()
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
            if fields["PPid"] == str(self.nspawn.pid) and fields["NSpid"].split()[1:] == ["1"]:
                return int(fields["Pid"])
        return 0

    def wait_until_up(self):
        """Until systemd has started everything; another time after a reboot."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.nspawn.poll() is None:
            self.leader = self.find_leader()
            if self.leader and self.run("systemctl", "is-system-running", check=None).stdout.strip() in (
                    "running", "degraded"):
                return
            time.sleep(0.2)
        raise AssertionError(f"the machine did not boot: {self.console()[-3000:]}")

    def reboot(self):
        self.run("systemctl", "reboot", check=None)
        assert self.nspawn.wait(PATIENCE) == REBOOT, self.console()[-3000:]
        self.start()

    def inside(self, words):
        return ["nsenter", "--target", str(self.leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup",
                "--root", "--wd", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *map(str, words)]

    def run(self, *words, check=0):
        """Runs a program there. `check`: the exit code that it must have; None: any."""
        done = subprocess.run(self.inside(words), capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL)
        if check is not None and done.returncode != check:
            raise AssertionError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def ask(self, path, body=None):
        """(status, text) of the camera app's page there; status 0: nobody listens."""
        done = subprocess.run(["nsenter", "--target", str(self.leader), "--net", sys.executable, "-c", ASK, path,
                               json.dumps(body) if body is not None else "", str(PORT)],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        return tuple(json.loads(done.stdout))

    def property(self, name, unit="engram.service"):
        return self.run("systemctl", "show", unit, f"--property={name}", "--value").stdout.strip()

    def outside_pid(self, pid):
        """The number here of a process there."""
        for entry in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                text = entry.read_text()
            except OSError:
                continue
            for line in text.splitlines():
                if line.startswith("NSpid:") and line.split()[2:] == [str(pid)]:
                    if os.readlink(entry.parent / "ns/pid") == os.readlink(f"/proc/{self.leader}/ns/pid"):
                        return int(entry.parent.name)
        raise AssertionError(f"there is no process {pid}")

    def put(self, file, path):
        target = self.folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
