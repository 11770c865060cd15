"""The page in a real browser where things are not as they should be: a device that hangs or goes, a camera that is
lost, a thing that was never taught, a small screen.

Usage: page_trouble_test.py <engram> <build folder> <source folder>. Skips (77) as page_test.py does. Screenshots are
left in <build folder>/page-trouble-shots.
"""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(sys.argv[3], "tests", "support"))
from page_visit import Visit, device_and_browser, expect  # noqa: E402


def learns_duck(visit):
    visit.page.locator("#name").fill("duck")
    for number in range(1, 6):
        visit.page.locator("#learn").click()
        visit.has_samples("duck", number)


def camera_lost(visit):
    """What is on the screen is old: it can neither be learned nor judged."""
    page = visit.page
    before = visit.samples("duck")
    visit.is_told("{ feed: { kind: 'lost', why: 'the plug is out', frames: 9, reopened: 0, frames_per_second: 0 } }")
    expect(page.locator("#banner")).to_contain_text("The plug is out.")
    expect(page.locator("#learn")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#learn-hint")).to_have_text("no picture from the camera")
    expect(page.locator("#answer")).to_be_hidden()
    expect(page.locator("#asking")).to_be_hidden()
    visit.check("2-camera-lost")
    page.evaluate("document.activeElement.blur()")
    for key in ("1", "Space", "b", "x"):
        page.evaluate("document.getElementById('toast').hidden = true")
        page.keyboard.press(key)
        expect(page.locator("#toast-text")).to_have_text("Nothing was learned: no picture from the camera.")
        expect(page.locator("#toast")).to_be_visible()
    page.locator("#learn").click(force=True)
    visit.is_told("{}")
    expect(page.locator("#learn")).to_have_attribute("aria-disabled", "false")
    expect(page.locator("#answer")).to_be_visible()
    visit.has_samples("duck", before)


def silent_device(visit, device):
    """The device hangs: nothing comes, nothing is closed, connections are still taken."""
    page = visit.page
    expect(page.locator("#camera-word")).to_contain_text("Live")
    device.process.send_signal(signal.SIGSTOP)
    expect(page.locator("#banner")).to_contain_text("connection")
    expect(page.locator("#camera-word")).to_have_text("Not connected")
    device.process.send_signal(signal.SIGCONT)
    expect(page.locator("#camera-word")).to_contain_text("Live")
    expect(page.locator("#banner")).to_be_hidden()


def another_thing(visit):
    """The device went and came back, and shows what it was never taught."""
    expect(visit.page.locator("#answer")).to_have_attribute("data-kind", "unknown")
    expect(visit.page.locator("#answer-label")).to_have_text("Unknown")
    expect(visit.page.locator("#banner")).to_be_hidden()
    visit.check("7-unknown")


def small_screens(browser, url, when):
    """Upright and sideways: Learn is there without scrolling."""
    for width, height in ((360, 640), (740, 360), (915, 412)):
        visit = Visit(browser, url, viewport={"width": width, "height": height}, has_touch=True, is_mobile=True)
        expect(visit.page.locator("#camera-word")).to_contain_text("Live")
        expect(visit.page.locator("#video")).to_have_js_property("naturalWidth", 640)
        expect(visit.page.locator("#coach" if when == "first" else "#asking")).to_be_visible()
        visit.shows_learn()
        visit.check(f"0-{when}-{width}x{height}")
        visit.context.close()


def on_a_phone(browser, url):
    visit = Visit(browser, url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True,
                  color_scheme="dark", reduced_motion="reduce")
    page = visit.page
    expect(page.locator("#answer")).to_have_attribute("data-kind", "unknown")
    box = page.locator("#learn").bounding_box()
    visit.shows_learn()
    assert box["width"] > 300 and box["height"] >= 64, box
    assert page.locator("#classes").bounding_box()["y"] > box["y"]
    page.locator("#name").fill("something new")
    page.locator("#learn").tap()
    visit.has_samples("something new", 1)
    expect(page.locator("#answer-label")).to_have_text(re.compile(r"^something new\??$"))
    assert page.evaluate("document.getAnimations().filter((a) => a.playState === 'running').length") == 0
    visit.check("8-phone-dark")
    page.emulate_media(color_scheme="light")
    visit.check("9-phone-light")
    visit.context.close()


with device_and_browser("page-trouble", *sys.argv[1:4]) as (device, browser):
    with device.shows("household/rubberduck.png"):
        small_screens(browser, device.url, "first")
        visit = Visit(browser, device.url, viewport={"width": 1280, "height": 860}, color_scheme="dark")
        learns_duck(visit)
        camera_lost(visit)
        silent_device(visit, device)
    expect(visit.page.locator("#banner")).to_contain_text("connection")
    with device.shows("vehicles/emergency/firetruck.png"):
        another_thing(visit)
        small_screens(browser, device.url, "later")
        on_a_phone(browser, device.url)
print("page trouble: ok")
