"""A machine that boots: the systemd of a root folder, in a container with namespaces of its own and without a network.

    with BootedMachine(root) as machine:      # a copy of it, which is gone afterwards
        machine.run("systemctl", "is-active", "engram")
        machine.ask("/health")

Needs root and systemd-nspawn (Debian's package systemd-container); why_not() says what is missing.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from machine import PATIENCE, Machine

REBOOT = 133  # systemd-nspawn's exit code when the machine wants to be started again


def why_not():
    """What keeps machines from booting here; empty: nothing."""
    if os.getuid() != 0:
        return "only root can boot a machine"
    if not shutil.which("systemd-nspawn"):
        return "there is no systemd-nspawn (apt-get install systemd-container)"
    return ""


class BootedMachine(Machine):
    namespaces = [*Machine.namespaces, "--cgroup"]

    def start(self):
        # One hierarchy of control groups, as on today's systems, whatever this machine has.
        self.starter = subprocess.Popen(
            ["systemd-nspawn", "--quiet", f"--directory={self.folder}", "--machine=engram-test", "--boot",
             "--private-network", "--register=no", "--keep-unit", "--link-journal=no", "--console=pipe",
             "--capability=CAP_BPF,CAP_PERFMON,CAP_NET_ADMIN", "--system-call-filter=bpf"],  # as filters of addresses need
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=dict(os.environ, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY="1"))
        self.wait_until_up()

    def end(self):
        if self.starter.poll() is None:
            self.starter.send_signal(signal.SIGTERM)  # it lets the machine power off
            try:
                self.starter.wait(30)
            except subprocess.TimeoutExpired:
                self.starter.kill()
        self.starter.wait()

    def wait_until_up(self):
        """Until systemd has started everything; another time after a reboot."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.starter.poll() is None:
            self.leader = self.find_leader()
            if self.leader and self.run("systemctl", "is-system-running", check=None).stdout.strip() in (
                    "running", "degraded"):
                return
            time.sleep(0.2)
        raise AssertionError(f"the machine did not boot: {self.console()[-3000:]}")

    def reboot(self):
        self.run("systemctl", "reboot", check=None)
        assert self.starter.wait(PATIENCE) == REBOOT, self.console()[-3000:]
        self.start()

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
