"""A program before a terminal that a test sits at: keys in, screen out.

    with PtySession([program, "camera"], env) as app:
        app.wait_for("nothing is learned")
        app.type("n")
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time


class PtySession:
    def __init__(self, words, env, columns=100, rows=30, patience=60):
        self.patience = patience
        self.text = ""
        self.terminal, self.inside = pty.openpty()
        fcntl.ioctl(self.inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(self.inside)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        # No colours between the words that tests look for.
        self.process = subprocess.Popen([str(word) for word in words], stdin=self.inside, stdout=self.inside,
                                        stderr=self.inside, preexec_fn=own_terminal,
                                        env={**env, "TERM": "xterm", "NO_COLOR": "1"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        os.close(self.inside)

    def read(self, seconds):
        """What came within that time, at once if something is there."""
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        new = os.read(self.terminal, 65536).decode(errors="replace") if ready else ""
        self.text += new
        return new

    def wait_for(self, pattern):
        """Until the screen has shown it since the last such wait; what matched."""
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            found = re.search(pattern, self.text)
            if found:
                self.text = self.text[found.end():]
                return found
            if not self.read(0.2) and self.process.poll() is not None and not self.read(0):
                break
        raise AssertionError(f"never seen: {pattern}\n{self.text[-2000:]!r}")

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        """Its exit code; what it still says is read meanwhile, or it could not say it."""
        end = time.monotonic() + self.patience
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0.05):
            pass
        assert self.process.poll() is not None, "it does not end"
        return self.process.returncode

    def is_restored(self):
        return termios.tcgetattr(self.inside) == self.before
