"""An aarch64 userland under qemu, without a network. There is no systemd in it: its programs are started one by one.

    with EmulatedMachine(root) as machine:    # a copy of it, which is gone afterwards
        machine.run("engram", "doctor")

Whoever uses it runs below toolchains/emulated, where the kernel starts aarch64 programs.
"""
import os
import subprocess
import time

from machine import PATIENCE, Machine

# Process 1: this machine's devices, its own /proc and /sys, a network with nothing but itself, and then to wait.
BEGIN = """
ip link set lo up
mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys" || exit 1
exec chroot "$0" sleep infinity
"""


class EmulatedMachine(Machine):
    # The nearest that qemu has to a Jetson Orin's A78AE: NEON, no SVE.
    environment = [*Machine.environment, f"QEMU_CPU={os.environ.get('QEMU_CPU', 'cortex-a76')}"]

    def start(self):
        self.starter = subprocess.Popen(["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child",
                                         "sh", "-c", BEGIN, str(self.folder)],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + PATIENCE
        while self.starter.poll() is None and time.monotonic() < end:
            self.leader = self.find_leader()
            if self.leader and os.readlink(f"/proc/{self.leader}/root") == str(self.folder):
                assert self.run("uname", "-m").stdout == "aarch64\n"
                return
            time.sleep(0.1)
        raise AssertionError(f"the machine did not start: {self.console()[-3000:]}")

    def end(self):
        self.starter.kill()
        self.starter.wait()

    def started(self, *words):
        """A program that goes on until it is stopped."""
        return Started(self, words)


class Started:
    def __init__(self, machine, words):
        self.machine = machine
        self.entered = subprocess.Popen(machine.inside(["sh", "-c", 'echo $$ >/run/started && exec "$@"', "sh", *words]),
                                        stdin=subprocess.DEVNULL, stdout=machine.log, stderr=machine.log)

    def stop(self):
        """Its exit code after SIGTERM."""
        self.machine.run("sh", "-c", "kill -TERM $(cat /run/started)")
        return self.entered.wait(PATIENCE)
