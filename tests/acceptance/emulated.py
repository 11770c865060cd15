"""A bundle for aarch64 on an aarch64 Debian under qemu, without a network.

    toolchains/emulated python3 emulated.py <engram> <build folder> <source folder> --package FILE.deb --root FOLDER

<engram> is this machine's own, which makes the bundles; FOLDER is a fresh arm64 system (debootstrap), which stays as it is.
In a copy of it the bundle is installed by `sh`, updated and rolled back; the program there classifies, learns and shows
its page. There is no systemd in it: systemd.py has that. Exit code 1: something of that failed.
"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from bundle_desk import OTHER_MODEL, PHOTOS, SETTINGS, Desk, asked  # noqa: E402
from emulated_machine import EmulatedMachine  # noqa: E402
from machine import PORT, eventually, one_by_one  # noqa: E402
from model_home import model_home, stamp  # noqa: E402

HOME = ("--home", "/var/lib/engram")


class Trial:
    def __init__(self, desk, machine, others_bundle):
        self.desk, self.machine, self.others_bundle = desk, machine, others_bundle

    def run(self):
        one_by_one((self.refuses_another_processor, self.install, self.classify, self.learn, self.camera,
                    self.update_and_rollback, self.brings_another_model, self.doctor))

    def refuses_another_processor(self):
        self.machine.put(self.others_bundle, "/root/other.egb")
        said = self.machine.run("sh", "/root/other.egb", "--key", self.desk.key, check=None)
        assert said.returncode != 0 and "x86_64" in said.stderr, said
        self.machine.run("dpkg-query", "--show", "engram", check=1)
        return said.stderr.strip().splitlines()[0]

    def install(self):
        assert self.machine.interfaces() == ["lo"], self.machine.interfaces()
        self.machine.put(self.desk.site, "/root/site.egb")
        said = self.machine.run("sh", "/root/site.egb", "--key", self.desk.key).stdout
        assert "systemd does not run here" in said, said
        assert self.machine.installed() == self.desk.versions[0], self.machine.installed()
        return f"{self.machine.installed()}: {said.strip().splitlines()[-1]}"

    def known(self):
        return {one["label"]: one["samples"] for one in self.machine.engram("classes", *HOME)["classes"]}

    def classify(self):
        assert self.known() == self.desk.learned, self.known()
        for label, photo in PHOTOS.items():
            self.machine.put(stamp(photo), f"/root/{label}.png")
            answer = self.machine.engram("classify", f"/root/{label}.png", *HOME)
            assert answer["label"] == label, answer
        return "what was learned on the desk is known here"

    def learn(self):
        self.machine.engram("learn", "fruit bowl", "/root/banana.png", *HOME)
        self.machine.engram("verify", *HOME)
        assert self.known() == {**self.desk.learned, "fruit bowl": 1}, self.known()
        return "one photo, and what it knew is there"

    def camera(self):
        """The app itself: its page answers, a tap is kept, a signal ends it."""
        before = self.known()
        app = self.machine.started("engram", "camera", "test://", "--http", str(PORT), *HOME)
        try:
            eventually(lambda: self.machine.ask("/health")[0] == 200, "the page does not answer")
            assert self.machine.classes() == before, self.machine.classes()
            eventually(lambda: self.machine.ask("/api/learn", {"label": "test picture"})[0] == 200, "no picture was learned")
        finally:
            code = app.stop()
        assert code == 0, (code, self.machine.console()[-2000:])
        assert self.known() == {**before, "test picture": 1}, self.known()
        return "answers, learns by a tap, ends by a signal"

    def update_and_rollback(self):
        before, (old, new) = self.known(), self.desk.versions
        self.machine.put(self.desk.next, "/root/next.egb")
        self.machine.run("engram", "bundle", "install", "/root/next.egb")
        assert self.machine.installed() == new and self.known() == before, (self.machine.installed(), self.known())
        self.machine.run("engram", "bundle", "rollback")
        assert self.machine.installed() == old and self.known() == before, (self.machine.installed(), self.known())
        assert self.machine.run("cat", "/etc/engram/camera.conf").stdout == SETTINGS
        return f"{old} to {new} and back, {sum(before.values())} samples kept"

    def brings_another_model(self):
        self.machine.put(self.desk.model, "/root/model.egb")
        self.machine.run("engram", "bundle", "install", "/root/model.egb")
        self.machine.engram("model", "show", OTHER_MODEL, *HOME)
        return OTHER_MODEL

    def doctor(self):
        report = self.machine.run("engram", "doctor", *HOME).stdout
        assert "emulator" in report, report
        return "; ".join(line.strip() for line in report.splitlines() if "GPU" in line)[:120]


def main():
    chosen = asked()
    home = model_home(chosen.engram, chosen.build, chosen.source)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(os.path.abspath(chosen.engram), home, chosen.package, folder)
        with EmulatedMachine(chosen.root) as machine:
            print(machine.run("sh", "-c", '. /etc/os-release; echo "$PRETTY_NAME", $(uname -m)').stdout.strip())
            Trial(desk, machine, desk.for_another_processor(chosen.package)).run()


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failed:
        print(f"FAILED: {failed}")
        sys.exit(1)
