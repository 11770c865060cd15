"""A device from the first boot on: a bundle installed without a network, the service under a real systemd.

    systemd.py <engram> <build folder> <source folder> --package FILE.deb --root FOLDER

FOLDER is a fresh system (debootstrap), which stays as it is: a copy of it is booted (support/booted_machine.py). There
the bundle is installed by `sh`, updated and rolled back; the service starts, answers, is watched, killed, stopped,
rebooted, hemmed in, given wrong settings, disabled. Exit code 1: something of that failed; 77: machines cannot boot here.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from booted_machine import BootedMachine, why_not  # noqa: E402
from bundle_desk import OTHER_MODEL, SETTINGS, Desk, asked  # noqa: E402
from machine import eventually, one_by_one  # noqa: E402
from model_home import model_home  # noqa: E402

STOP_MARK = 1.0   # seconds from `systemctl stop` to stopped: printed beside what was measured
QUICK_WATCHDOG = "[Service]\nWatchdogSec=3\nTimeoutAbortSec=2\n"


class Device:
    """The machine's service, as systemd has it."""

    def __init__(self, machine):
        self.machine = machine

    def pid(self):
        return int(self.machine.property("MainPID"))

    def is_up(self):
        return self.machine.property("ActiveState") == "active" and self.machine.ask("/health")[0] == 200

    def restart(self, check=0):
        self.machine.run("systemctl", "reset-failed", "engram")  # the trial starts it more often than its unit allows
        self.machine.run("systemctl", "restart", "engram", check=check)


class Trial:
    def __init__(self, desk, machine):
        self.desk, self.machine, self.device = desk, machine, Device(machine)

    def run(self):
        one_by_one((self.install, self.answers, self.is_watched, self.comes_back_after_kill, self.stops,
                    self.is_hemmed_in, self.update_and_rollback, self.brings_another_model, self.survives_a_reboot,
                    self.refuses_wrong_settings, self.disable))

    def install(self):
        assert self.machine.interfaces() == ["lo"], self.machine.interfaces()
        self.machine.put(self.desk.site, "/root/site.egb")
        said = self.machine.run("sh", "/root/site.egb", "--key", self.desk.key)
        assert "started" in said.stdout, said.stdout + said.stderr
        return self.machine.run("dpkg-query", "--show", "engram").stdout.strip().replace("\t", " ")

    def answers(self):
        assert self.device.is_up(), self.machine.run("systemctl", "status", "engram", check=None).stdout
        assert self.machine.property("UnitFileState") == "enabled"
        status = self.machine.engram("service", "status")
        assert status["running"] and status["health"]["ok"], status
        assert self.machine.classes() == self.desk.learned, self.machine.classes()
        assert status["lines"], "nothing is in the journal"
        return status["status"]

    def is_watched(self):
        """Fed while it is well; started again when it stands still."""
        fed = self.machine.property("WatchdogTimestampMonotonic")
        eventually(lambda: self.machine.property("WatchdogTimestampMonotonic") != fed, "the watchdog is not fed")
        usual = self.machine.property("WatchdogUSec")
        self.machine.put(self.desk.file("quick.conf", QUICK_WATCHDOG), "/etc/systemd/system/engram.service.d/quick.conf")
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
        before = self.machine.classes()
        self.machine.tap("mug")
        pid = self.device.pid()
        begin = time.monotonic()
        os.kill(self.machine.outside_pid(pid), signal.SIGKILL)
        eventually(lambda: self.device.pid() not in (0, pid) and self.device.is_up(), "it did not come back")
        seconds = time.monotonic() - begin
        assert self.machine.classes() == {**before, "mug": 1}, self.machine.classes()
        return f"back after {seconds:.1f} s, the tap is there"

    def stops(self):
        """While it is taught; nothing acknowledged is lost."""
        acknowledged = self.machine.classes()["mug"]
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
        kept, acknowledged = self.machine.classes()["mug"], acknowledged + counts.count(200)
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
        before, pid = self.machine.classes(), self.device.pid()
        self.machine.put(self.desk.next, "/root/next.egb")
        self.machine.run("engram", "bundle", "install", "/root/next.egb")
        old, new = self.desk.versions
        assert self.machine.installed() == new, self.machine.installed()
        eventually(self.device.is_up, "the new program does not answer")
        assert self.device.pid() != pid and self.machine.classes() == before
        self.machine.run("engram", "bundle", "rollback")
        assert self.machine.installed() == old, self.machine.installed()
        eventually(self.device.is_up, "the program before does not answer")
        assert self.machine.classes() == before
        assert self.machine.run("cat", "/etc/engram/camera.conf").stdout == SETTINGS
        return f"{old} to {new} and back, {sum(before.values())} samples kept"

    def brings_another_model(self):
        """To a home that systemd keeps below /var/lib/private by now, for the user it made up."""
        before = self.machine.classes()
        self.machine.put(self.desk.model, "/root/model.egb")
        self.machine.run("engram", "bundle", "install", "/root/model.egb")
        self.machine.engram("model", "show", OTHER_MODEL, "--home", "/var/lib/engram")
        owners = self.machine.run("find", "/var/lib/private/engram", "-printf", "%U\\n").stdout.split()
        assert len(set(owners)) == 1 and owners[0] != "0", set(owners)
        eventually(self.device.is_up, "the service does not answer")
        assert self.machine.classes() == before
        return f"{OTHER_MODEL}, the service's own like {len(owners) - 1} other files; what was learned stays"

    def survives_a_reboot(self):
        before = self.machine.classes()
        self.machine.reboot()
        eventually(self.device.is_up, "the service did not start with the machine")
        assert self.machine.classes() == before
        return "started with the machine"

    def refuses_wrong_settings(self):
        self.machine.put(self.desk.file("wrong.conf", "miror = yes\n"), "/etc/engram/camera.conf")
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


def main():
    chosen = asked()
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
