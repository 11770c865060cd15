"""For the tests of the page: a device before one object, and a browser that visits it."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading

from model_home import model_home, skip, stamp

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    skip("Playwright is not in this Python")
expect.set_options(timeout=60000)  # of a busy machine; nobody waits for it in full

# What the device tells may be changed on its way: `told.state = {...}` lies over every state that comes.
TELL = """
  window.told = {};
  const listen = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (name, hear) {
    listen.call(this, name, (event) => hear({ data: JSON.stringify({ ...JSON.parse(event.data), ...window.told[name] }) }));
  };
"""


class Device:
    """`engram camera` before one object, on a port that stays the same when it starts again."""

    def __init__(self, program, folder):
        self.program, self.folder, self.port, self.url = program, folder, 0, ""

    @contextlib.contextmanager
    def shows(self, photo):
        stamps = self.folder / pathlib.Path(photo).stem
        stamps.mkdir(exist_ok=True)
        shutil.copy(stamp(photo), stamps)
        process = subprocess.Popen(
            [self.program, "camera", "stage://?objects=1&fps=10", "--http", f"127.0.0.1:{self.port}", "--headless",
             "--fps", "10", "--state", self.folder / "state"],
            env=dict(os.environ, ENGRAM_STAMPS=str(stamps)), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        said = []
        for line in process.stdout:
            said.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\S*", line)
            if found:
                self.url, self.port = found.group(0), int(found.group(1))
                break
        assert self.url, "".join(said)
        threading.Thread(target=process.stdout.read, daemon=True).start()  # whatever else it says
        self.process = process
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait(20)


class Visit:
    """A page that fails the test when anything goes wrong in it."""

    checks, shots = "", None  # page_checks.js; the folder for screenshots

    def __init__(self, browser, url, **how):
        self.troubles = []
        self.forgiven = ["ERR_CONNECTION", "ERR_INCOMPLETE"]  # a device that is away is no fault of the page
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.context.set_default_timeout(90000)
        self.page.add_init_script("addEventListener('securitypolicyviolation', (e) => "
                                  "console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI));")
        self.page.add_init_script(TELL)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("console", lambda message: self.heard(message))
        self.page.goto(url)

    def heard(self, message):
        if message.type == "error" and not any(word in message.text for word in self.forgiven):
            self.troubles.append(message.text)

    def check(self, name):
        """Contrast, names and sizes as the page is now; and a picture of it."""
        for check in ("lowContrast", "nameless", "overflow", "tiny"):
            offences = self.page.evaluate(f"({self.checks}).{check}()")
            assert not offences, f"{name}: {check}: {offences}"
        self.page.screenshot(path=self.shots / f"{name}.png", full_page=True)
        assert not self.troubles, f"{name}: {self.troubles}"

    def samples(self, label):
        text = self.row(label).locator(".count").inner_text()
        return int(text.split()[0])

    def row(self, label):
        return self.page.locator(".class").filter(has=self.page.get_by_text(label, exact=True))

    def is_told(self, state):
        """`state`: JavaScript of what lies over the states from now on."""
        self.page.evaluate(f"told.state = {state}")
        self.page.locator("#mirror").click()  # a state comes when something changed

    def shows_learn(self):
        box, window = self.page.locator("#learn").bounding_box(), self.page.viewport_size
        assert box["y"] >= 0 and box["y"] + box["height"] <= window["height"], f"Learn is below the fold: {box}, {window}"
        assert box["x"] >= 0 and box["x"] + box["width"] <= window["width"], f"Learn is cut off: {box}, {window}"

    def has_samples(self, label, number):
        expect(self.row(label).locator(".count")).to_have_text(re.compile(rf"^{number}\b"))


@contextlib.contextmanager
def device_and_browser(name, program, build, source):
    """Screenshots are left in <build>/<name>-shots."""
    chromium = shutil.which("chromium")
    if not chromium:
        skip("chromium is not installed")
    os.environ["ENGRAM_HOME"] = model_home(program, build, source)
    Visit.checks = pathlib.Path(source, "tests/support/page_checks.js").read_text()
    Visit.shots = pathlib.Path(build, f"{name}-shots")
    shutil.rmtree(Visit.shots, ignore_errors=True)
    Visit.shots.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="engram-page-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield Device(program, pathlib.Path(folder)), browser
        browser.close()
