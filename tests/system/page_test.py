"""The page in a real browser: from the first visit to the first learned thing, and what a user does then.

Usage: page_test.py <engram> <build folder> <source folder>. Skips (77) without Playwright, chromium, the
checkpoint or the photos. Screenshots are left in <build folder>/page-shots.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.argv[3], "tests", "support"))
from page_visit import Visit, device_and_browser, expect  # noqa: E402

HOSTILE = '<img src=x onerror="document.title=1">'


def first_visit(visit):
    page = visit.page
    expect(page.locator("#coach")).to_be_visible()
    expect(page.locator("#camera-word")).to_contain_text("Live")
    expect(page.locator("#video")).to_have_js_property("naturalWidth", 640)
    expect(page.locator("#answer-label")).to_have_text("Nothing learned yet")
    visit.check("1-first-visit")
    page.locator("#background").click()  # the empty picture is nothing to be proud of
    visit.has_samples("Nothing here", 1)
    expect(page.locator("#answer")).to_have_attribute("data-kind", "background")
    expect(page.locator("#answer-label")).to_have_text("Nothing here")
    expect(page.locator("#toast-text")).to_contain_text("“Nothing here”")
    expect(page.locator("#coach")).to_be_visible()
    visit.is_told("{ hints: ['background has 1 sample: show 2 more to judge it', "
                  "'duck looks like background (2 of 3): show duck 2 more'] }")
    expect(page.locator("#hints")).to_contain_text("press “Nothing here” 2 more times while nothing is shown")
    assert "background" not in page.locator("body").inner_text()
    visit.is_told("{}")
    page.locator("#undo").click()
    expect(visit.row("Nothing here")).to_have_count(0)
    page.locator("#learn").click()  # without a name: it asks for one, and learns nothing
    expect(page.locator("#name")).to_be_focused()
    page.keyboard.type("duck")
    expect(page.locator("#learn-word")).to_have_text("Learn as duck")
    visit.is_told("{ says_unknown: false }")  # with a sample or two everything is a duck
    page.locator("#learn").click()
    visit.has_samples("duck", 1)
    expect(page.locator("#answer-label")).to_have_text("duck?")
    expect(page.locator("#answer-p")).to_have_text("")
    expect(page.locator("#answer-others")).to_have_text("Show it twice more, then it can say unknown.")
    expect(page.locator("#coach")).to_be_visible()
    visit.check("2-first-guess")
    for number in (2, 3):
        page.locator("#learn").click()
        visit.has_samples("duck", number)
    expect(page.locator("#toast-text")).to_contain_text("Learned duck")
    visit.is_told("{}")
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
    expect(visit.row("duck").locator(".more")).to_be_focused()  # the next row


def rename(visit, label, to):
    visit.row(label).locator(".more").click()
    visit.page.locator("#dialog-name").fill(to)
    visit.page.keyboard.press("Enter")


def new_names(visit):
    page = visit.page
    before = visit.samples("duck")
    page.locator("#name").fill("bird")
    page.keyboard.press("Enter")
    visit.has_samples("bird", 1)
    rename(visit, "bird", "chick")
    visit.has_samples("chick", 1)
    expect(visit.row("bird")).to_have_count(0)
    expect(visit.row("chick").locator(".more")).to_be_focused()
    rename(visit, "chick", "duck")
    expect(page.locator("#dialog-title")).to_have_text("Join chick and duck?")
    expect(page.locator("#dialog-body")).to_contain_text("cannot be undone")
    page.get_by_role("button", name="Cancel").click()
    visit.has_samples("chick", 1)
    rename(visit, "chick", "duck")
    page.get_by_role("button", name="Join").click()
    visit.has_samples("duck", before + 1)
    expect(page.locator("#toast-text")).to_have_text(f"Joined: chick is part of duck now ({before + 1} samples).")
    expect(visit.row("chick")).to_have_count(0)
    expect(visit.row("duck").locator(".more")).to_be_focused()


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


def files(visit):
    page = visit.page
    with page.expect_download() as download:
        page.locator("#export").click()
    assert download.value.suggested_filename == "learned.engram"
    expect(page.locator("#events")).to_contain_text("Exported into a file", ignore_case=True)
    visit.forgiven.append("status of 4")  # the browser's word on a refusal
    for name, content, why in (("junk.engram", b"junk", "The file: ends after 4 bytes"),
                               ("own.engram", download.value.path().read_bytes(), "The file is a copy")):
        page.locator("#file").set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator("#toast-text")).to_contain_text(why)
        expect(page.locator("#toast-text")).not_to_contain_text("/tmp")
    large = visit.shots / "all we know.engram"
    large.write_bytes(b"")
    os.truncate(large, 9_000_000)
    page.locator("#file").set_input_files(large)
    expect(page.locator("#dialog pre")).to_have_text(
        re.compile(r"^engram merge \S+/state 'all we know.engram' -o \S+/state-merged$"))
    visit.check("6-too-large")
    page.keyboard.press("Escape")
    visit.is_told("{ directory: '/var/lib/engram/state/default' }")
    expect(page.locator("#about")).to_contain_text("/var/lib/engram")
    page.locator("#file").set_input_files(large)
    expect(page.locator("#dialog-body")).to_contain_text("runs as a service")
    page.keyboard.press("Escape")
    large.unlink()


def not_judged(visit):
    """Tasks that could not be judged are no points of the plot."""
    visit.is_told("{ accuracy_history: [-1, 0.5, 1] }")
    expect(visit.page.locator("#plot-accuracy svg")).to_have_attribute("aria-label", re.compile("2 values"))
    visit.is_told("{}")


with device_and_browser("page", *sys.argv[1:4]) as (device, browser), device.shows("household/rubberduck.png"):
    visit = Visit(browser, device.url, viewport={"width": 1280, "height": 860}, color_scheme="light")
    first_visit(visit)
    strange_name(visit)
    new_names(visit)
    hold_and_undo(visit)
    keyboard_only(visit)
    region(visit)
    files(visit)
    not_judged(visit)
    visit.page.reload()
    expect(visit.row("duck")).to_be_visible()
    expect(visit.page.locator("#coach")).to_be_hidden()
print("page: ok")
