"""What a service manager does, as far as a service can tell: a socket to notify it by, a watchdog, SIGTERM.

    with Service([PROGRAM, "camera", ...], environment, folder) as service:
        service.wait_for("READY=1")
        seconds, code = service.stop()
"""
import os
import pathlib
import signal
import socket
import subprocess
import time

PATIENCE = 120  # seconds; a machine may be busy


class Service:
    def __init__(self, words, environment, folder, watchdog_usec=400_000, **popen):
        self.heard = []
        self.path = str(pathlib.Path(folder) / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.log = open(pathlib.Path(folder) / "journal", "w+b")
        self.started = time.monotonic()
        settings = {"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log, **popen}
        self.process = subprocess.Popen(
            [str(word) for word in words], cwd=folder,
            env={**environment, "NOTIFY_SOCKET": self.path, "WATCHDOG_USEC": str(watchdog_usec)}, **settings)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.socket.close()
        os.unlink(self.path)
        self.log.close()

    def lines(self):
        self.log.seek(0)
        return self.log.read().decode().splitlines()

    def listen(self, seconds):
        """The next message as lines; none if nothing came."""
        self.socket.settimeout(max(seconds, 0.001))
        try:
            message = self.socket.recv(65536).decode().split("\n")
        except socket.timeout:
            return []
        self.heard.append(message)
        return message

    def wait_for(self, word, times=1):
        """Seconds since the start when `word` came for the n-th time from now on."""
        end = time.monotonic() + PATIENCE
        while times:
            message = self.listen(0.2)
            times -= word in message
            if time.monotonic() > end or (not message and self.process.poll() is not None):
                raise AssertionError(f"{word} never came; it said {self.lines()}, told {self.heard}")
        return time.monotonic() - self.started

    def stop(self):
        """SIGTERM: how long it took, and the exit code."""
        self.hear_the_rest()  # a manager listens; a service waits while nobody does
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None and time.monotonic() < begin + PATIENCE:
            self.listen(0.01)
        seconds = time.monotonic() - begin
        code = self.process.wait(0)
        self.hear_the_rest()
        return seconds, code

    def hear_the_rest(self):
        while self.listen(0):
            pass
