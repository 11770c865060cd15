"""The camera app as a service: settings, what the manager hears, the journal, SIGTERM, `engram service`.

Usage: service_test.py <engram> <build folder> <source folder>. The program talks to a real socket, as systemd's
would be. `systemctl` is a script (FAKE_SYSTEMCTL) that starts what the unit says and waits for READY: it shows our
part; systemd's own is in acceptance/systemd.py. Skips what needs the demo's photos or a mount namespace.
"""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from camera_app import CameraApp  # noqa: E402
from cli_case import BUILD, DATA, MISSING, OK, PROGRAM, SOURCE, UNSUPPORTED, USAGE, CliCase, main  # noqa: E402
from model_home import STAMPS  # noqa: E402
from service_manager import PATIENCE, Service  # noqa: E402

SETTING = re.compile(r"^#?([a-z0-9-]+) = (.+)$")
HAS_STAGE = os.path.isdir(STAMPS)
HAS_SYSTEMD = os.path.isdir("/run/systemd/system")


class Settings(CliCase):
    def example(self):
        """{key: default} of the file that the program prints."""
        text = self.run_program("service", "config").stdout
        found = [match.groups() for match in map(SETTING.match, text.splitlines()) if match]
        self.assertEqual(len(found), len(dict(found)), "a key that comes twice")
        for line in text.splitlines():  # the page is set, nothing else; and no setting hides in another kind of line
            self.assertTrue(line in ("", "http = 8477") or line[0] == "#", line)
            self.assertTrue(not line or SETTING.match(line) or re.match(r"#( |$)", line), line)
        return dict(found)

    def options(self):
        """What `engram camera --help` lists, as keys."""
        page = self.run_program("camera", "--help").stdout
        listed = page[page.index("\nOPTIONS\n"):page.index("\nEXAMPLE\n")]
        names = re.findall(r"^ {7}(?:-\w )?(?:--([a-z0-9-]+)|([A-Z]+))\b", listed, re.MULTILINE)
        return {long or positional.lower() for long, positional in names} - {"help", "version", "config"}

    def test_every_option_is_explained_and_every_key_is_an_option(self):
        options = self.options()
        self.assertLessEqual({"source", "mirror", "state", "threads"}, options)
        self.assertEqual(set(self.example()), options)

    def camera(self, text, *words, code=OK):
        (self.dir / "camera.conf").write_text(text)
        return self.run_program("camera", "--headless", "--config", "camera.conf", *words, code=code)

    def test_a_flag_that_is_off_and_names_of_hosts(self):
        self.camera("mirror = no\nmodel = tiny\nsource = test://?frames=1&fps=0\nhost = http://bench\nhttp = 0\n",
                    code=USAGE)
        words = [PROGRAM, "camera", "--config", "camera.conf"]
        (self.dir / "camera.conf").write_text("mirror = no\nmodel = tiny\nsource = test://\nhost = Bench.example other\n")
        os.chdir(self.dir)
        with CameraApp(words, self.environment(), self.dir / "log") as app:
            for host, status in (("bench.example", 200), ("other:80", 200), ("evil.example", 421)):
                app.connection.request("GET", "/api/state", headers={"Host": host})
                reply = app.connection.getresponse()
                body = reply.read()
                self.assertEqual(reply.status, status, body)
            self.assertIn(b"--host", body)
            app.post("/api/view", {"mirror": True, "region": [0, 0, 500, 500]})
        with CameraApp([PROGRAM, "camera", "test://"], self.environment(), self.dir / "log") as app:
            state = app.get("/api/state")
            self.assertEqual((state["mirror"], state["region"]), (True, [0, 0, 500, 500]))
        with CameraApp(words, self.environment(), self.dir / "log") as app:  # the file counts
            state = app.get("/api/state")
            self.assertEqual((state["mirror"], state["region"]), (False, [0, 0, 500, 500]))

    def test_mistakes_are_told_with_file_and_line(self):
        for text, place, words, code in (
                ("mirror = yes\nmiror = no\n", 2, "no setting miror. Did you mean mirror?", DATA),
                ("volume = 11\n", 1, "engram service config lists them", DATA),
                ("# fine\n\nthreads = many\n", 3, "threads: ", DATA),
                ("fps = nan\n", 1, "fps: nan is not a number from", DATA),
                ("mirror = perhaps\n", 1, "mirror: perhaps is neither yes nor no", DATA),
                ("region = 1,2\n", 1, "region: ", DATA),
                ("fps = 3\nfps = 4\n", 2, "fps is set twice, first in line 1", DATA),
                ("headless\n", 1, "headless is no setting", DATA),
                ("config = other.conf\n", 1, "no setting config", DATA),
                ("log-format = loud\n", 1, "log-format: ", DATA)):
            said = self.camera(text, code=code).stderr
            self.assertIn(f"camera.conf:{place}: ", said)
            self.assertIn(words, said)
        self.assertIn("absent.conf", self.run_program("camera", "--config", "absent.conf", code=MISSING).stderr)
        self.assertFalse(self.state.exists())

    def test_the_command_line_beats_the_file(self):
        nowhere = "model = no-such-model\nsource = nowhere://\n"
        self.assertIn("nowhere", self.camera(nowhere, code=UNSUPPORTED).stderr)
        said = self.camera(nowhere, "test://?frames=1", code=MISSING).stderr
        self.assertIn("no-such-model", said)
        self.assertNotIn("nowhere://", said)


class Running(CliCase):
    def service(self, *words, **more):
        words = [PROGRAM, "camera", "--model", "tiny", "--headless", *words]
        return Service(words, self.environment(), self.dir, **more)

    def test_the_example_with_all_its_values_runs(self):
        text = self.run_program("service", "config").stdout
        values = {"home": self.home, "state": self.state, "model": "tiny", "source": "test://",
                  "headless": "yes", "http": "127.0.0.1:0"}
        lines = [SETTING.sub(lambda m: f"{m[1]} = {values.get(m[1], m[2])}", line) for line in text.splitlines()]
        (self.dir / "all.conf").write_text("\n".join(lines))
        with Service([PROGRAM, "camera", "--config", "all.conf"], self.environment(), self.dir) as service:
            service.wait_for("READY=1")
            self.assertEqual(service.stop()[1], OK, service.lines())

    def test_ready_watchdog_status_and_a_clean_stop(self):
        with self.service("test://") as service:
            ready = service.wait_for("READY=1")
            self.assertIn("0 classes", " ".join(service.heard[-1]))
            service.wait_for("WATCHDOG=1", times=3)
            seconds, code = service.stop()
            print(f"\nready after {ready:.2f} s, stopped in {seconds:.2f} s")
            self.assertEqual(code, OK)
            self.assertLess(seconds, 10)
            self.assertIn("STOPPING=1", service.heard[-1])
            self.assertEqual(sum("READY=1" in message for message in service.heard), 1)

    def test_a_thousand_classes(self):
        for hidden in ("2000", "10000"):
            self.state = self.dir / f"state-{hidden}"
            made = subprocess.run([BUILD / "tests/many_classes", self.home, "tiny", self.state, "1000", "2", hidden])
            self.assertEqual(made.returncode, OK)
            with self.service("test://") as service:
                ready = service.wait_for("READY=1")  # also while what was learned is still being read
                self.assertIn("1 000 classes, 2 000 samples", " ".join(service.heard[-1]))
                seconds, code = service.stop()
                print(f"\n1 000 classes, M {hidden}: ready after {ready:.2f} s, stopped in {seconds:.2f} s")
                self.assertEqual(code, OK)

    def test_a_camera_that_is_not_there_is_no_reason_to_be_restarted(self):
        with self.service("v4l2:///dev/nowhere") as service:
            service.wait_for("READY=1")
            self.assertIn("/nowhere", " ".join(service.heard[-1]))
            service.wait_for("WATCHDOG=1", times=3)
            self.assertEqual(service.stop()[1], OK)

    def test_threads_that_stand_still_get_no_food(self):
        with self.service("test://") as service:
            service.wait_for("WATCHDOG=1", times=2)
            service.process.send_signal(19)  # SIGSTOP: all of them
            time.sleep(0.5)
            while service.listen(0):
                pass
            self.assertEqual(service.listen(1), [])
            service.process.send_signal(18)
            service.wait_for("WATCHDOG=1")

    def test_lines_for_the_journal(self):
        with self.service("v4l2:///dev/nowhere", "--log-format", "journal") as service:
            service.wait_for("READY=1")
            while not service.lines():
                service.wait_for("WATCHDOG=1")
            service.stop()
            lines = service.lines()
        self.assertTrue(any(line.startswith("<4>") and "/nowhere" in line for line in lines), lines)
        for line in lines:
            self.assertRegex(line, r"^<[3-7]>[^\x1b]*$")
            self.assertNotRegex(line, r"\d\d:\d\d:\d\d")

    def test_the_journal_is_recognised_by_its_stream(self):
        read, write = os.pipe()
        stat = os.fstat(write)
        for number, first in ((stat.st_ino, "<3>error"), (stat.st_ino + 1, "error")):
            environment = self.environment(JOURNAL_STREAM=f"{stat.st_dev}:{number}")
            subprocess.run([PROGRAM, "camera", "--model", "absent"], env=environment, stdout=write, stderr=write,
                           stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
            said = os.read(read, 65536).decode()
            self.assertTrue(said.startswith(first), said)
        os.close(read)
        os.close(write)

    @unittest.skipUnless(HAS_STAGE, "the demo's photos are not installed: tools/setup build")
    def test_sigterm_while_learning_loses_nothing_acknowledged(self):
        keyboard, terminal = pty.openpty()
        with Service([PROGRAM, "camera", "--model", "tiny", "stage://?hold=1"], self.environment(), self.dir,
                     stdin=terminal, stdout=terminal, stderr=terminal) as service:
            os.close(terminal)
            service.wait_for("READY=1")
            os.write(keyboard, b"nmug\r")
            seen, acknowledged = b"", 0
            end = time.monotonic() + PATIENCE
            while acknowledged < 20:
                os.write(keyboard, b"1")
                seen = seen[-5000:] + os.read(keyboard, 65536)
                acknowledged = max([acknowledged, *map(int, re.findall(rb"mug \((\d+) samples?\)", seen))])
                self.assertLess(time.monotonic(), end, seen)
            os.write(keyboard, 25 * b"1")  # some of them wait when it is asked to end
            seconds, code = service.stop()
            self.assertEqual(code, OK)
        os.close(keyboard)
        learned = self.json("classes")["classes"][0]["samples"]
        print(f"\nacknowledged {acknowledged} at least, kept {learned}; stopped in {seconds:.2f} s")
        self.assertGreaterEqual(learned, acknowledged)
        self.assertLess(seconds, 10)
        self.run_program("verify")


FAKE_SYSTEMCTL = r"""#!/usr/bin/env python3
import json, os, pathlib, re, socket, subprocess, sys
here = pathlib.Path(__file__).parent
with open(here / "calls", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\n")
def start():
    unit = pathlib.Path("/etc/systemd/system/engram.service").read_text()
    settings = dict(re.findall(r"^(\w+)=(.*)$", unit, re.M))
    assert settings["Type"] == "notify"
    pathlib.Path("/var/lib/" + settings["StateDirectory"]).mkdir(exist_ok=True)
    environment = dict(os.environ, NOTIFY_SOCKET=str(here / "notify"))
    environment.update(w.split("=") for w in settings["Environment"].replace("%S", "/var/lib").split())
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    pathlib.Path(environment["NOTIFY_SOCKET"]).unlink(missing_ok=True)
    listener.bind(environment["NOTIFY_SOCKET"])
    listener.settimeout(0.2)
    log = open(here / "journal", "w")
    service = subprocess.Popen(settings["ExecStart"].split(), env=environment, stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log, cwd="/")
    while service.poll() is None:
        try:
            told = listener.recv(65536).decode().split("\n")
        except socket.timeout:
            continue
        if "READY=1" in told:
            json.dump({"pid": service.pid, "status": told[1]}, open(here / "running", "w"))
            return
    sys.exit("Job for engram.service failed because the control process exited with error code.")
def running():
    return json.load(open(here / "running")) if (here / "running").exists() else None
if sys.argv[1] in ("start", "restart"):
    start()
elif sys.argv[1] == "show":
    state = running()
    print("LoadState=loaded\nUnitFileState=enabled\nResult=success\nNRestarts=0\nMemoryCurrent=[not set]")
    print("ActiveState=active\nSubState=running" if state else "ActiveState=inactive\nSubState=dead")
    if state:
        print(f"MainPID={state['pid']}\nStatusText={state['status'].removeprefix('STATUS=')}")
elif sys.argv[1:3] == ["disable", "--now"]:
    os.kill(running()["pid"], 15)
    (here / "running").unlink()
"""
FAKE_JOURNALCTL = "#!/bin/sh\ncat $(dirname $0)/journal\n"
FAKE_SYSUSERS = "#!/bin/sh\n"
# A machine with systemd, as far as files show it, that is gone with the last process in it.
MACHINE = """set -e
cp -a /etc {dir}/etc
mkdir -p {dir}/run/systemd/system {dir}/lib
mount --bind {dir}/etc /etc
mount --bind {dir}/run /run
mount --bind {dir}/lib /var/lib
exec "$@"
"""


class Command(CliCase):
    def setUp(self):
        super().setUp()
        self.bin = self.dir / "bin"
        self.bin.mkdir()
        for name, text in (("systemctl", FAKE_SYSTEMCTL), ("journalctl", FAKE_JOURNALCTL),
                           ("systemd-sysusers", FAKE_SYSUSERS)):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)

    def environment(self, **more):
        return super().environment(PATH=f"{self.bin}:{os.environ['PATH']}", **more)

    def calls(self):
        return (self.bin / "calls").read_text().splitlines() if (self.bin / "calls").exists() else []

    @unittest.skipIf(HAS_SYSTEMD and os.getuid() == 0, "here it would change the machine")
    def test_without_systemd_or_root_nothing_changes(self):
        for words in (["enable"], ["disable"], *([] if HAS_SYSTEMD else [["status"]])):
            said = self.run_program("service", *words, code=UNSUPPORTED).stderr
            self.assertRegex(said, "systemd does not run here|by root only")
        self.assertEqual(self.calls(), [])

    def test_an_image_is_prepared_and_nothing_is_started(self):
        image = self.dir / "image"
        image.mkdir()
        said = self.run_program("service", "enable", "--root", image, code=MISSING).stderr
        self.assertIn(f"engram model add efficientnet-lite0 --home {image}/var/lib/engram", said)
        self.assertEqual(list(image.iterdir()), [])
        shutil.copytree(self.home, image / "var/lib/engram")
        answer = self.json("service", "enable", "--root", image)
        self.assertTrue(answer["unit_written"] and answer["config_written"])
        self.assertEqual(answer["page"], "http://127.0.0.1:8477/")
        self.assertEqual((image / "etc/engram/camera.conf").read_text(), self.run_program("service", "config").stdout)
        self.assertEqual(self.calls(), [f"--root={image} enable engram.service"])
        # A second time, with settings of one's own; then with wrong ones.
        (image / "etc/engram/camera.conf").write_text("mirror = yes\n")
        answer = self.json("service", "enable", "--root", image)
        self.assertFalse(answer["unit_written"] or answer["config_written"])
        self.assertNotIn("page", answer)
        self.assertIn("virtual stage", self.run_program("service", "enable", "--root", image).stderr)
        (image / "etc/engram/camera.conf").write_text("source = v4l2:///dev/video0\nhttp = 0.0.0.0:8477\n")
        done = self.run_program("service", "enable", "--root", image)
        self.assertRegex(done.stdout + done.stderr, r"page +http://\S+:8477/")
        self.assertNotIn("stage", done.stderr)
        (image / "etc/engram/camera.conf").write_text("miror = yes\n")
        self.assertIn("camera.conf:1:", self.run_program("service", "enable", "--root", image, code=DATA).stderr)
        self.run_program("service", "disable", "--root", image)
        self.assertFalse((image / "etc/systemd/system/engram.service").exists())
        self.assertEqual((image / "etc/engram/camera.conf").read_text(), "miror = yes\n")

    def test_the_token_of_the_page(self):
        image = self.dir / "image"
        kept = image / "var/lib/engram/page-token"
        kept.parent.mkdir(parents=True)
        token = ["service", "token", "--root", image]
        self.assertIsNone(self.json(*token)["token"])
        kept.write_text(32 * "a" + "\n")
        self.assertIn("others may read", self.run_program(*token, code=DATA).stderr)
        kept.chmod(0o600)
        self.assertEqual(self.json(*token)["token"], 32 * "a")
        self.assertIsNone(self.json(*token, "--renew")["token"])
        self.assertFalse(kept.exists())

    def test_from_enable_to_disable(self):
        """On a machine of files: mounts of its own over /etc, /run and /var/lib."""
        (self.dir / "machine").write_text(MACHINE.format(dir=self.dir))
        unshare = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
        inside = [*unshare, "sh", str(self.dir / "machine")]
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespaces here")
        shutil.rmtree(self.dir / "etc")
        script = f"""set -x
        {PROGRAM} service enable; echo code $?
        cp -r {self.home} /var/lib/engram
        mkdir /etc/engram
        printf 'model = tiny\\nsource = test://\\n' > /etc/engram/camera.conf
        {PROGRAM} service enable; echo code $?
        {PROGRAM} service status; echo code $?
        {PROGRAM} service disable; echo code $?
        {PROGRAM} service status; echo code $?
        printf 'model = tiny\\nsource = nowhere://\\n' > /etc/engram/camera.conf
        {PROGRAM} service enable; echo code $?
        """
        environment = {key: value for key, value in self.environment().items() if not key.startswith("ENGRAM_")}
        done = subprocess.run([*inside, "sh", "-c", script], env=environment, text=True, timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        said = done.stdout
        self.assertEqual(re.findall(r"^code (\d+)$", said, re.M), ["66", "0", "0", "0", "69", "70"], said)
        self.assertIn("engram model add efficientnet-lite0 --home /var/lib/engram", said)
        self.assertRegex(said, r"ready +.*0 classes")
        self.assertRegex(said, r"service +engram.service active \(running\), enabled")
        self.assertRegex(said, r"did not get ready: .*failed(.|\n)*What it wrote last:\n.*nowhere")
        start = ["daemon-reload", "enable engram.service", "reset-failed engram.service"]
        self.assertEqual([call for call in self.calls() if not call.startswith("show")],
                         [*start, "restart engram.service", "disable --now engram.service", "daemon-reload",
                          *start, "restart engram.service"])

    def test_the_unit_is_what_systemd_understands(self):
        analyse = shutil.which("systemd-analyze")
        if analyse is None:
            self.skipTest("systemd-analyze is not installed: tools/setup test")
        unit = self.dir / "engram.service"
        unit.write_text((SOURCE / "toolchains/engram.service.in").read_text().replace("@ENGRAM_PROGRAM@", "/bin/true"))
        checked = subprocess.run([analyse, "verify", unit], capture_output=True, text=True)
        self.assertNotIn(str(unit), checked.stdout + checked.stderr)
        scored = subprocess.run([analyse, "security", "--offline=true", "--no-pager", unit],
                                capture_output=True, text=True)
        print("\n" + scored.stdout.strip().splitlines()[-1] if scored.stdout else scored.stderr)


main()
