"""A device from the first boot on: a bundle installed without a network, the service under a real systemd.

    systemd.py <engram> <build folder> <source folder> --package FILE.deb --root FOLDER

FOLDER is a fresh system (debootstrap), which stays as it is: a copy of it is booted (support/booted_machine.py). There
the bundle is installed by `sh`, updated and rolled back; the service starts, answers, is watched, killed, stopped,
rebooted, hemmed in, given wrong settings, disabled. Exit code 1: something of that failed; 77: machines cannot boot here.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from booted_machine import PATIENCE, PORT, BootedMachine, why_not  # noqa: E402
from model_home import model_home, stamp  # noqa: E402

STOP_MARK = 1.0   # seconds from `systemctl stop` to stopped: printed beside what was measured
SETTINGS = f"source = test://\nhttp = {PORT}\n"
PHOTOS = {"banana": "food/fruit/banana.png", "duck": "household/rubberduck.png"}


def eventually(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


class Device:
    """The machine with its service, as its users ask it."""

    def __init__(self, machine):
        self.machine = machine

    def engram(self, *words, check=0):
        return json.loads(self.machine.run("engram", *words, "--json", check=check).stdout.splitlines()[-1])

    def pid(self):
        return int(self.machine.property("MainPID"))

    def is_up(self):
        return self.machine.property("ActiveState") == "active" and self.machine.ask("/health")[0] == 200

    def state(self):
        status, text = self.machine.ask("/api/state")
        assert status == 200, text
        return json.loads(text)

    def classes(self):
        """{label: samples}, which the app knows when it has read what was learned."""
        while (told := self.state())["opening"]:
            time.sleep(0.1)
        return {known["label"]: known["samples"] for known in told["classes"]}

    def restart(self, check=0):
        self.machine.run("systemctl", "reset-failed", "engram")  # the trial starts it more often than its unit allows
        self.machine.run("systemctl", "restart", "engram", check=check)

    def tap(self, label):
        status, text = self.machine.ask("/api/learn", {"label": label})
        assert status == 200, text


class Trial:
    def __init__(self, desk, machine):
        self.desk, self.machine, self.device = desk, machine, Device(machine)

    def run(self):
        for step in (self.install, self.answers, self.is_watched, self.comes_back_after_kill, self.stops,
                     self.is_hemmed_in, self.update_and_rollback, self.survives_a_reboot, self.refuses_wrong_settings,
                     self.disable):
            begin = time.monotonic()
            said = step()
            print(f"ok  {step.__name__:<24} {time.monotonic() - begin:5.1f} s   {said}", flush=True)

    def install(self):
        interfaces = self.machine.run("ls", "/sys/class/net").stdout.split()
        assert interfaces == ["lo"], interfaces
        self.machine.put(self.desk.bundles[0], "/root/site.egb")
        said = self.machine.run("sh", "/root/site.egb", "--key", self.desk.key)
        assert "started" in said.stdout, said.stdout + said.stderr
        return self.machine.run("dpkg-query", "--show", "engram").stdout.strip().replace("\t", " ")

    def answers(self):
        assert self.device.is_up(), self.machine.run("systemctl", "status", "engram", check=None).stdout
        assert self.machine.property("UnitFileState") == "enabled"
        status = self.device.engram("service", "status")
        assert status["running"] and status["health"]["ok"], status
        assert self.device.classes() == self.desk.learned, self.device.classes()
        assert status["lines"], "nothing is in the journal"
        return status["status"]

    def is_watched(self):
        """Fed while it is well; started again when it stands still."""
        fed = self.machine.property("WatchdogTimestampMonotonic")
        eventually(lambda: self.machine.property("WatchdogTimestampMonotonic") != fed, "the watchdog is not fed")
        usual = self.machine.property("WatchdogUSec")
        self.machine.put(self.desk.quick_watchdog, "/etc/systemd/system/engram.service.d/quick.conf")
        self.machine.run("systemctl", "daemon-reload")
        self.device.restart()
        pid = self.device.pid()
        os.kill(self.machine.outside_pid(pid), signal.SIGSTOP)
        eventually(lambda: self.device.pid() not in (0, pid) and self.device.is_up(), "nobody saw it stand still")
        assert int(self.machine.property("NRestarts")) >= 1
        self.machine.run("rm", "/etc/systemd/system/engram.service.d/quick.conf")
        self.machine.run("systemctl", "daemon-reload")
        self.device.restart()
        return f"every {usual}; tried with 3 s"

    def comes_back_after_kill(self):
        before = self.device.classes()
        self.device.tap("mug")
        pid = self.device.pid()
        begin = time.monotonic()
        os.kill(self.machine.outside_pid(pid), signal.SIGKILL)
        eventually(lambda: self.device.pid() not in (0, pid) and self.device.is_up(), "it did not come back")
        seconds = time.monotonic() - begin
        assert self.device.classes() == {**before, "mug": 1}, self.device.classes()
        return f"back after {seconds:.1f} s, the tap is there"

    def stops(self):
        """While it is taught; nothing acknowledged is lost."""
        acknowledged = self.device.classes()["mug"]
        counts, ending = [], threading.Event()

        def teach():
            while not ending.is_set():
                status, _ = self.machine.ask("/api/learn", {"label": "mug"})
                counts.append(status)

        teacher = threading.Thread(target=teach)
        teacher.start()
        eventually(lambda: counts.count(200) >= 5, "no tap was acknowledged")
        begin = time.monotonic()
        self.machine.run("systemctl", "stop", "engram")
        seconds = time.monotonic() - begin
        ending.set()
        teacher.join()
        assert self.machine.property("Result") == "success", self.machine.property("Result")
        assert self.machine.property("ExecMainStatus") == "0"
        self.machine.run("systemctl", "start", "engram")
        eventually(self.device.is_up, "it did not start again")
        kept, acknowledged = self.device.classes()["mug"], acknowledged + counts.count(200)
        assert acknowledged <= kept <= acknowledged + 1, (acknowledged, kept)
        return f"stopped in {seconds:.2f} s while it learned (mark {STOP_MARK:.0f} s), {acknowledged} taps, none lost"

    def is_hemmed_in(self):
        inner = self.device.pid()
        process = pathlib.Path("/proc") / str(self.machine.outside_pid(inner))
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
        assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status
        owner = self.machine.run("stat", "--format=%u", "/var/lib/private/engram").stdout.strip()
        assert owner != "0" and set(status["Uid"].split()) == {owner}, (status["Uid"], owner)
        # As root, but with the service's view of the files: what it may not write to, nobody there may.
        for path in ("/usr/x", "/etc/x", "/root/x", "/var/x", "/boot/x"):
            done = subprocess.run(["nsenter", f"--target={process.name}", "--mount", "--root", "touch", path],
                                  capture_output=True, text=True)
            assert re.search("Read-only|No such file|denied", done.stderr), (path, done)
        self.opens_no_other_device()
        self.reaches_no_other_address()
        level = self.machine.run("systemd-analyze", "security", "--no-pager", "engram", check=None).stdout
        return level.strip().splitlines()[-1].lstrip("→ ")

    def tries(self, command):
        """What it says in the service's own control group; outside of it nothing hinders it."""
        self.machine.run("bash", "-c", command)
        group = self.machine.property("ControlGroup")
        joined = f"echo $$ > /sys/fs/cgroup{group}/cgroup.procs && {command}"
        return self.machine.run("bash", "-c", joined, check=None).stderr

    def opens_no_other_device(self):
        self.machine.run("mknod", "/dev/other", "c", "1", "11")  # the kernel's messages
        said = self.tries(": < /dev/other")
        assert "not permitted" in said, said

    def reaches_no_other_address(self):
        subprocess.run(["nsenter", f"--target={self.machine.leader}", "--net", "ip", "address", "add", "10.9.9.1/32",
                        "dev", "lo"], check=True)
        said = self.tries("echo x > /dev/udp/10.9.9.1/9")
        assert "not permitted" in said, said

    def update_and_rollback(self):
        before, pid = self.device.classes(), self.device.pid()
        self.machine.put(self.desk.bundles[1], "/root/next.egb")
        self.machine.run("engram", "bundle", "install", "/root/next.egb")
        old, new = self.desk.versions
        assert self.installed() == new, self.installed()
        eventually(self.device.is_up, "the new program does not answer")
        assert self.device.pid() != pid and self.device.classes() == before
        self.machine.run("engram", "bundle", "rollback")
        assert self.installed() == old, self.installed()
        eventually(self.device.is_up, "the program before does not answer")
        assert self.device.classes() == before
        assert self.machine.run("cat", "/etc/engram/camera.conf").stdout == SETTINGS
        return f"{old} to {new} and back, {sum(before.values())} samples kept"

    def installed(self):
        return self.machine.run("dpkg-query", "--show", "--showformat=${Version}", "engram").stdout

    def survives_a_reboot(self):
        before = self.device.classes()
        self.machine.reboot()
        eventually(self.device.is_up, "the service did not start with the machine")
        assert self.device.classes() == before
        return "started with the machine"

    def refuses_wrong_settings(self):
        self.machine.put(self.desk.wrong_settings, "/etc/engram/camera.conf")
        self.device.restart(check=1)
        assert self.machine.property("ActiveState") == "failed", "it is started again and again"
        said = self.machine.run("engram", "service", "status", check=69).stdout
        assert "camera.conf:1" in said, said
        self.machine.put(self.desk.settings, "/etc/engram/camera.conf")
        self.machine.run("engram", "service", "enable")
        eventually(self.device.is_up, "it does not start with the right ones")
        return "told with file and line; not tried again and again"

    def disable(self):
        self.machine.run("engram", "service", "disable")
        assert self.machine.property("ActiveState") == "inactive"
        assert self.machine.property("UnitFileState") == "disabled"
        self.machine.run("engram", "service", "status", check=69)
        self.machine.run("dpkg", "--purge", "engram")
        self.machine.run("test", "-e", "/var/lib/engram/state/default/journal")
        return "and purged; what was learned is still there"


class Desk:
    """What is made beforehand: two bundles that differ in the version of the program, and settings."""

    def __init__(self, program, home, package, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.home = shutil.copytree(home, self.folder / "home")  # the key is this desk's alone
        self.settings = self.file("camera.conf", SETTINGS)
        self.wrong_settings = self.file("wrong.conf", "miror = yes\n")
        self.quick_watchdog = self.file("quick.conf", "[Service]\nWatchdogSec=3\nTimeoutAbortSec=2\n")
        self.learned = {}
        for label, photo in PHOTOS.items():
            self.engram("learn", label, stamp(photo))
            self.learned[label] = 1
        self.key = self.engram("bundle", "key", "new")["key"]
        newer = self.repacked(package)
        self.versions = [self.field(one, "Version") for one in (package, newer)]
        self.bundles = [self.bundle(one, name) for one, name in ((package, "site.egb"), (newer, "next.egb"))]

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def engram(self, *words):
        environment = dict(os.environ, ENGRAM_HOME=str(self.home), ENGRAM_STATE=str(self.folder / "state"))
        done = subprocess.run([self.program, *map(str, words), "--json"], env=environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def field(self, package, name):
        asked = subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True, text=True)
        return asked.stdout.strip()

    def repacked(self, package):
        """The same program as a later version of it."""
        tree, control = self.folder / "tree", self.folder / "tree/DEBIAN/control"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control.write_text(re.sub(r"(?m)^Version: .*", lambda found: found[0] + "+next", control.read_text()))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, self.folder / "next.deb"],
                       check=True, capture_output=True)
        return self.folder / "next.deb"

    def bundle(self, package, name):
        target = {"amd64": "x86_64", "arm64": "aarch64"}[self.field(package, "Architecture")]
        self.engram("bundle", "build", "--target", target, "--deb", package, "--with-state", self.folder / "state",
                    "--settings", self.settings, "-o", self.folder / name)
        return self.folder / name


def main():
    options = argparse.ArgumentParser()
    options.add_argument("engram")
    options.add_argument("build")
    options.add_argument("source")
    options.add_argument("--package", required=True)
    options.add_argument("--root", required=True)
    chosen = options.parse_args()
    if why_not():
        print(f"SKIPPED: {why_not()}")
        sys.exit(77)
    home = model_home(chosen.engram, chosen.build, chosen.source)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(os.path.abspath(chosen.engram), home, chosen.package, folder)
        begin = time.monotonic()
        with BootedMachine(chosen.root) as machine:
            system = machine.run("sh", "-c", '. /etc/os-release; echo "$PRETTY_NAME"').stdout.strip()
            systemd = machine.run("systemctl", "--version").stdout.split()[1]
            print(f"{system}, systemd {systemd}, booted in {time.monotonic() - begin:.1f} s")
            Trial(desk, machine).run()


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failed:
        print(f"FAILED: {failed}")
        sys.exit(1)
