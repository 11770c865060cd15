"""The camera app as a program that others talk to: started, asked and told over HTTP, watched from /proc, ended or killed.

    with CameraApp([PROGRAM, "camera", ...], environment, log) as app:
        app.post("/api/learn", {"label": "mug"})
        app.get("/api/state")["classes"]

Needs nothing but the standard library.
"""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

PATIENCE = 120  # seconds; a machine may be busy
BROKEN = (ConnectionError, http.client.HTTPException, TimeoutError)


class Refused(Exception):
    """The app answered, with an error."""

    def __init__(self, status, answer):
        super().__init__(f"{status}: {answer.get('error', answer)}")
        self.status = status


class CameraApp:
    def __init__(self, words, environment, log):
        """`log`: a file that takes what it says. Ready when it has a port."""
        self.log = open(log, "w+b")
        self.process = subprocess.Popen([*map(str, words), "--http", "0", "--headless"], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        self.port = self._wait_for_port()
        self.connection = self.connect()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.kill()
        self.log.close()

    def said(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def _wait_for_port(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", self.said()):
                return int(found[1])
            time.sleep(0.01)
        self.kill()
        raise AssertionError(f"the camera app did not start: {self.said()}")

    # ---- asked and told --------------------------------------------------------------------------
    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10 * PATIENCE)

    def _answer(self, *request):
        self.connection.request(*request)
        reply = self.connection.getresponse()
        answer = json.loads(reply.read())
        if reply.status != 200:
            raise Refused(reply.status, answer)
        return answer

    def get(self, path):
        return self._answer("GET", path)

    def post(self, path, body):
        headers = {"Content-Type": "application/json", "X-Engram": "1"}
        return self._answer("POST", path, json.dumps(body), headers)

    def picture(self):
        """The newest one as a JPEG; None: there is none yet."""
        self.connection.request("GET", "/frame.jpg")
        reply = self.connection.getresponse()
        file = reply.read()
        return file if reply.status == 200 else None

    def wait_for_picture(self):
        for _ in range(100 * PATIENCE):  # counted and not timed: the whole machine may stand still
            if self.picture() is not None:
                return
            time.sleep(0.01)
        raise AssertionError(f"the camera app shows nothing: {self.said()}")

    def wait_until(self, holds):
        """Until that holds of its state, which is returned."""
        for _ in range(100 * PATIENCE):
            if holds(state := self.get("/api/state")):
                return state
            time.sleep(0.01)
        raise AssertionError(f"the camera app does not get there: {state} {self.said()}")

    def counts(self):
        """{label: samples}, which the app knows when it has read what was learned."""
        while (told := self.get("/api/state"))["opening"]:
            time.sleep(0.01)
        return {one["label"]: one["samples"] for one in told["classes"]}

    # ---- watched ---------------------------------------------------------------------------------
    def resident(self):
        """Bytes in memory."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    # ---- ended -----------------------------------------------------------------------------------
    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """SIGTERM: seconds until it was gone, and its exit code."""
        begin = time.monotonic()
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        return time.monotonic() - begin, code


class Watcher(threading.Thread):
    """A browser's part: the picture and the events, for a while, then from the beginning."""

    def __init__(self, app, path, seconds):
        super().__init__(daemon=True)
        self.app, self.path, self.seconds = app, path, seconds
        self.visits, self.bytes, self.leave = 0, 0, threading.Event()
        self.start()

    def run(self):
        while not self.leave.is_set():
            connection = self.app.connect()
            try:
                connection.request("GET", self.path)
                reply = connection.getresponse()
                end = time.monotonic() + self.seconds
                while time.monotonic() < end and not self.leave.is_set():
                    self.bytes += len(reply.read1(65536))
                self.visits += 1
            except (*BROKEN, OSError):
                time.sleep(0.05)  # the app is gone, or full
            finally:
                connection.close()

    def end(self):
        self.leave.set()
        self.join()
