"""The page in a real browser: from the first visit to the first learned thing, and what a user does then.

Usage: page_test.py <engram> <build folder> <source folder>. Skips (77) without Playwright, chromium, the
checkpoint or the photos. Screenshots are left in <build folder>/page-shots.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

program, build, source = sys.argv[1:4]
sys.path.insert(0, os.path.join(source, "tests", "support"))
from model_home import model_home, skip, stamp  # noqa: E402

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    skip("Playwright is not in this Python")
CHROMIUM = shutil.which("chromium")
if not CHROMIUM:
    skip("chromium is not installed")
os.environ["ENGRAM_HOME"] = model_home(program, build, source)
CHECKS = pathlib.Path(source, "tests/support/page_checks.js").read_text()
SHOTS = pathlib.Path(build, "page-shots")
HOSTILE = '<img src=x onerror="document.title=1">'
expect.set_options(timeout=60000)  # of a busy machine; nobody waits for it in full


class Device:
    """`engram camera` before one object, on a port that stays the same when it starts again."""

    def __init__(self, folder):
        self.folder, self.port, self.url = folder, 0, ""

    @contextlib.contextmanager
    def shows(self, photo):
        stamps = self.folder / pathlib.Path(photo).stem
        stamps.mkdir(exist_ok=True)
        shutil.copy(stamp(photo), stamps)
        process = subprocess.Popen(
            [program, "camera", "stage://?objects=1&fps=10", "--http", f"127.0.0.1:{self.port}", "--headless",
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
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)


class Visit:
    """A page that fails the test when anything goes wrong in it."""

    def __init__(self, browser, url, **how):
        self.troubles = []
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.context.set_default_timeout(90000)
        self.page.add_init_script("addEventListener('securitypolicyviolation', (e) => "
                                  "console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI));")
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("console", lambda message: self.heard(message))
        self.page.goto(url)

    def heard(self, message):
        # A device that is away is no fault of the page.
        if message.type == "error" and "ERR_CONNECTION" not in message.text and "ERR_INCOMPLETE" not in message.text:
            self.troubles.append(message.text)

    def check(self, name):
        """Contrast, names and sizes as the page is now; and a picture of it."""
        for check in ("lowContrast", "nameless", "overflow", "tiny"):
            offences = self.page.evaluate(f"({CHECKS}).{check}()")
            assert not offences, f"{name}: {check}: {offences}"
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
        assert not self.troubles, f"{name}: {self.troubles}"

    def samples(self, label):
        text = self.row(label).locator(".count").inner_text()
        return int(text.split()[0])

    def row(self, label):
        return self.page.locator(".class").filter(has=self.page.get_by_text(label, exact=True))

    def has_samples(self, label, number):
        expect(self.row(label).locator(".count")).to_have_text(re.compile(rf"^{number}\b"))


def first_visit(visit):
    page = visit.page
    expect(page.locator("#coach")).to_be_visible()
    expect(page.locator("#camera-word")).to_contain_text("Live")
    expect(page.locator("#video")).to_have_js_property("naturalWidth", 640)
    expect(page.locator("#answer-label")).to_have_text("Nothing learned yet")
    visit.check("1-first-visit")
    page.locator("#learn").click()  # without a name: it asks for one, and learns nothing
    expect(page.locator("#name")).to_be_focused()
    page.keyboard.type("duck")
    expect(page.locator("#learn-word")).to_have_text("Learn as duck")
    page.locator("#learn").click()
    visit.has_samples("duck", 1)
    expect(page.locator("#answer-label")).to_have_text("duck")
    expect(page.locator("#toast-text")).to_contain_text("It knows duck")
    expect(page.locator("#coach")).to_be_hidden()
    visit.check("2-first-recognition")


def strange_name(visit):
    page = visit.page
    page.locator("#name").fill(HOSTILE)
    page.keyboard.press("Enter")
    visit.has_samples(HOSTILE, 1)
    assert page.locator(".class img, #events img, #toast img").count() == 0
    assert page.title() != "1"
    visit.check("3-strange-name")
    visit.row(HOSTILE).locator(".more").click()
    page.get_by_role("button", name="Forget …").click()
    expect(page.locator("#dialog-title")).to_contain_text("Forget")
    visit.check("4-forget-asks")
    page.get_by_role("button", name="Cancel").click()
    visit.has_samples(HOSTILE, 1)
    visit.row(HOSTILE).locator(".more").click()
    page.get_by_role("button", name="Forget …").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(visit.row(HOSTILE)).to_have_count(0)


def hold_and_undo(visit):
    page = visit.page
    before = visit.samples("duck")
    page.locator("#name").fill("duck")
    page.locator("#learn").hover()
    page.mouse.down()
    expect(page.locator("#learn-hint")).to_contain_text("learned")
    page.mouse.up()
    expect(page.locator("#toast-text")).to_have_text(re.compile(r"^Learned \d+ views? of duck"))
    expect(page.locator("#learn-hint")).to_contain_text("hold for more")
    learned = int(page.locator("#toast-text").inner_text().split()[1])
    visit.has_samples("duck", before + learned)
    page.locator("#undo").click()
    visit.has_samples("duck", before + learned - 1)


def keyboard_only(visit):
    page, key = visit.page, visit.page.keyboard
    page.evaluate("document.activeElement.blur()")
    before = visit.samples("duck")
    key.press("1")
    visit.has_samples("duck", before + 1)
    key.press("Space")
    visit.has_samples("duck", before + 2)
    key.press("u")
    visit.has_samples("duck", before + 1)
    key.press("r")
    expect(page.locator("#dialog-title")).to_contain_text("last one really")
    key.type("fruit")
    key.press("Enter")
    visit.has_samples("fruit", 1)
    key.press("u")
    expect(visit.row("fruit")).to_have_count(0)
    key.press("x")
    key.type("yellow")
    key.press("Enter")
    visit.has_samples("yellow", 1)
    key.press("u")
    expect(visit.row("yellow")).to_have_count(0)
    key.press("p")
    expect(page.locator("#paused")).to_be_visible()
    key.press("p")
    expect(page.locator("#paused")).to_be_hidden()
    key.press("?")
    expect(page.locator("#dialog-title")).to_have_text("Keys")
    visit.check("5-keys")
    key.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    key.press("n")
    expect(page.locator("#name")).to_be_focused()
    key.press("Escape")
    key.press("Tab")  # what has the focus is seen to have it
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def region(visit):
    page = visit.page
    box = page.locator("#picture").bounding_box()
    page.mouse.move(box["x"] + box["width"] * .25, box["y"] + box["height"] * .2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * .75, box["y"] + box["height"] * .7, steps=4)
    page.mouse.up()
    expect(page.locator("#crop-word")).to_have_text("Whole picture")
    visit.check("6-region")
    page.locator("#crop").click()
    expect(page.locator("#region")).to_be_hidden()


def another_thing(visit):
    """The device went and came back, and shows what it was never taught."""
    expect(visit.page.locator("#answer")).to_have_attribute("data-kind", "unknown")
    expect(visit.page.locator("#answer-label")).to_have_text("Unknown")
    expect(visit.page.locator("#banner")).to_be_hidden()
    visit.check("7-unknown")


def on_a_phone(browser, url):
    visit = Visit(browser, url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True,
                  color_scheme="dark", reduced_motion="reduce")
    page = visit.page
    expect(page.locator("#answer")).to_have_attribute("data-kind", "unknown")
    box = page.locator("#learn").bounding_box()
    assert box["y"] + box["height"] < 844, "Learn is below the fold"
    assert box["width"] > 300 and box["height"] >= 64, box
    assert page.locator("#classes").bounding_box()["y"] > box["y"]
    page.locator("#name").fill("something new")
    page.locator("#learn").tap()
    visit.has_samples("something new", 1)
    expect(page.locator("#answer-label")).to_have_text("something new")
    assert page.evaluate("document.getAnimations().filter((a) => a.playState === 'running').length") == 0
    visit.check("8-phone-dark")
    page.emulate_media(color_scheme="light")
    visit.check("9-phone-light")
    visit.context.close()


shutil.rmtree(SHOTS, ignore_errors=True)
SHOTS.mkdir(parents=True)
with tempfile.TemporaryDirectory(prefix="engram-page-") as folder, sync_playwright() as playwright:
    device = Device(pathlib.Path(folder))
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    with device.shows("household/rubberduck.png"):
        visit = Visit(browser, device.url, viewport={"width": 1280, "height": 860}, color_scheme="light")
        first_visit(visit)
        strange_name(visit)
        hold_and_undo(visit)
        keyboard_only(visit)
        region(visit)
        visit.page.reload()
        expect(visit.row("duck")).to_be_visible()
        expect(visit.page.locator("#coach")).to_be_hidden()
        visit.page.emulate_media(color_scheme="dark")
    expect(visit.page.locator("#banner")).to_contain_text("connection")
    with device.shows("vehicles/emergency/firetruck.png"):
        another_thing(visit)
        on_a_phone(browser, device.url)
    browser.close()
print("page: ok")
