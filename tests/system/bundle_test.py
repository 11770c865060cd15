"""engram bundle: made at a desk, installed without a network, updated, rolled back; bad ones refused.

Usage: bundle_test.py <engram> <build folder> <source folder>. The device is a folder: the real dpkg installs
a tiny package there (dpkg --root), and the program takes it for the system (--root). Needs dpkg.
"""
import os
import pathlib
import platform
import resource
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import BUSY, DATA, MISSING, OK, PROGRAM, SOURCE, UNSUPPORTED, USAGE, CliCase, main  # noqa: E402

DISK, INTERNAL = 74, 70
SERVICE = 64123  # a user and group that nobody is
TARGET = {"x86_64": "x86_64", "aarch64": "aarch64"}.get(platform.machine())
OTHER = "aarch64" if TARGET == "x86_64" else "x86_64"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}

if not TARGET or not shutil.which("dpkg") or not shutil.which("dpkg-deb"):
    print("SKIPPED: no dpkg here, or a machine that no bundle is for")
    sys.exit(77)


class Bundle(CliCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = subprocess.run([PROGRAM, "--home", cls.home, "bundle", "key", "new"], capture_output=True, text=True)
        assert made.returncode == OK, made.stderr

    def setUp(self):
        super().setUp()
        self.device = self.dir / "device"
        (self.device / "var/lib/dpkg/info").mkdir(parents=True)
        (self.device / "var/lib/dpkg/updates").mkdir()
        (self.device / "var/lib/dpkg/status").touch()
        self.key = self.json("bundle", "key", "show")["key"]

    def environment(self, **more):
        return super().environment(PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", **more)

    def package(self, version, target=TARGET, name="engram", script=None, needs=None, size=None, program=None):
        tree = self.dir / f"tree-{name}-{version}-{target}"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: {ARCHITECTURE[target]}\n"
            "Maintainer: nobody <nobody@localhost>\nDescription: for tests\n" +
            (f"Depends: {needs}\n" if needs else "") + (f"Installed-Size: {size}\n" if size else ""))
        (tree / "DEBIAN/conffiles").write_text("/etc/engram/camera.conf\n")
        (tree / "etc/engram").mkdir(parents=True)
        (tree / "etc/engram/camera.conf").write_text("# of the package\n")
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "usr/bin/engram").write_text(program or f'#!/bin/sh\necho "{version}: $*" > "$ENGRAM_TEST_NOTE"\n')
        (tree / "usr/bin/engram").chmod(0o755)
        if script:
            (tree / "DEBIAN/preinst").write_text(script)
            (tree / "DEBIAN/preinst").chmod(0o755)
        file = self.dir / f"{name}_{version}_{target}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, file], check=True, capture_output=True)
        return file

    def build(self, version, *words, name="site.egb", code=OK, **package):
        package = self.package(version, **package)
        words = ["--model", "tiny", *words] if "--without-model" not in words else words
        return self.json("bundle", "build", "--target", TARGET, "--deb", package, "-o", name, *words, code=code)

    def install(self, *words, name="site.egb", code=OK):
        return self.json("bundle", "install", name, "--root", self.device, *words, code=code)

    def version(self):
        asked = subprocess.run(["dpkg-query", f"--admindir={self.device}/var/lib/dpkg", "--show",
                                "--showformat=${db:Status-Status} ${Version}", "engram"], capture_output=True, text=True)
        status, _, version = asked.stdout.partition(" ")
        return version if status == "installed" else ""

    def everything(self):
        """What is on the device, but for the folder that may be made to look at a bundle."""
        found = {}
        for path in sorted(self.device.rglob("*")):
            name = str(path.relative_to(self.device))
            if path.is_file() and not name.startswith("var/lib/dpkg/") and not name.endswith("lock"):
                found[name] = path.read_bytes()
        return found

    def refused(self, *words, code, says, name="site.egb"):
        before = self.everything()
        self.assertIn(says, self.install(*words, name=name, code=code)["error"])
        self.assertEqual(self.everything(), before)

    def exported_state(self):
        for colour in ("red", "blue"):
            self.learn(colour, *sorted((self.photos / colour).glob("*.png")))
        return self.digest()

    def test_install_update_and_roll_back(self):
        digest = self.exported_state()
        (self.dir / "site.conf").write_text("source = test://\n")
        made = self.build("1.0", "--with-state", self.state, "--settings", "site.conf")
        self.assertEqual([m["name"] for m in made["members"]],
                         ["engram.deb", "model.onnx", "card.json", "state.engram", "camera.conf", "licences.txt"])
        self.assertEqual(made["bytes"], (self.dir / "site.egb").stat().st_size)
        self.assertEqual(self.json("bundle", "verify", "site.egb"), made)

        self.refused(code=USAGE, says=self.key)
        self.refused("--key", "ab" * 32, code=DATA, says="signed with another key")
        steps = self.install("--key", self.key)
        self.assertEqual(steps["package"], "1.0")
        self.assertEqual(self.version(), "1.0")
        home = self.device / "var/lib/engram"
        self.assertEqual((self.device / "etc/engram/camera.conf").read_text(), "source = test://\n")
        self.assertIn("tiny", (self.device / "var/lib/engram-bundle/licences.txt").read_text())
        state = home / "state/default"
        self.assertEqual(self.json("inspect", "--home", home, "--state", state)["digest"], digest)
        red = self.test_photos / "red/100.png"
        answer = self.json("classify", red, "--home", home, "--state", state)
        self.assertEqual(answer["label"], "red")

        again = self.install()  # the key is trusted now, and all is there
        self.assertIn("already", again["package"])
        self.assertIn("already", again["model"])
        self.assertIn("engram merge", again["state"])

        # What the device learns since stays.
        self.json("learn", "green", *sorted((self.photos / "green").glob("*.png")), "--home", home, "--state", state)
        learned = self.json("inspect", "--home", home, "--state", state)["digest"]
        self.build("2.0", "--with-state", self.state, name="update.egb")
        self.assertEqual(self.install(name="update.egb")["package"], "2.0, was 1.0")
        self.assertEqual(self.version(), "2.0")
        self.assertEqual((self.device / "etc/engram/camera.conf").read_text(), "source = test://\n")
        self.assertEqual(self.json("inspect", "--home", home, "--state", state)["digest"], learned)

        rollback = ("bundle", "rollback", "--root", self.device)
        self.assertEqual(self.json(*rollback)["package"], "1.0, was 2.0")
        self.assertEqual(self.version(), "1.0")
        self.assertEqual(self.json(*rollback)["package"], "2.0, was 1.0")
        self.assertEqual(self.version(), "2.0")
        self.assertEqual(self.json("inspect", "--home", home, "--state", state)["digest"], learned)

    def test_a_package_that_does_not_install(self):
        self.build("1.0")
        self.install("--trust-new-key")
        self.build("2.0", name="bad.egb", script="#!/bin/sh\nexit 1\n")
        before = self.everything()
        said = self.install(name="bad.egb", code=INTERNAL)["error"]
        self.assertIn("1.0 from before is installed again", said)
        self.assertEqual(self.version(), "1.0")
        self.assertEqual(self.everything(), before)
        self.assertIn("no package from before",
                      self.json("bundle", "rollback", "--root", self.device, code=MISSING)["error"])

    def test_a_jetsons_package_refuses_without_its_libraries(self):
        text = (SOURCE / "toolchains/deb/preinst.in").read_text()
        script = self.dir / "preinst"
        script.write_text(text.replace("@CUDA_SONAMES@", "libcudart.so.13 libcublas.so.13"))
        (self.dir / "bin").mkdir()
        lists = self.dir / "bin/ldconfig"

        def preinst(word, *found):
            lines = "".join(f"\\t{name} (libc6,AArch64) => /usr/local/cuda/lib64/{name}\\n" for name in found)
            lists.write_text(f"#!/bin/sh\nprintf '{lines}'\n")
            lists.chmod(0o755)
            path = f"{lists.parent}:{os.environ['PATH']}"
            done = subprocess.run(["sh", script, word], env={"PATH": path}, capture_output=True, text=True)
            return done.returncode, done.stderr

        self.assertEqual(preinst("install", "libcudart.so.13", "libcublas.so.13"), (0, ""))
        self.assertEqual(preinst("abort-upgrade"), (0, ""))  # the one before is put back, whatever is there
        code, said = preinst("upgrade", "libcudart.so.13", "libcublas.so.12", "libcublas.so.130")
        self.assertEqual(code, 1)
        self.assertIn("error: this system lacks libcublas.so.13, with", said)  # `bundle install` tells lines with "error"
        self.assertIn("sudo apt install nvidia-jetpack", said)
        self.assertIn("libcudart.so.13 libcublas.so.13", preinst("install")[1])

    def test_a_package_that_needs_what_is_not_there(self):
        self.build("1.0", needs="libnothing (>= 2)")
        before = self.everything()
        said = self.install("--trust-new-key", code=INTERNAL)["error"]
        self.assertIn("libnothing", said)
        self.assertIn("removed again", said)
        self.assertEqual(self.version(), "")
        after = self.everything()
        after.pop("etc/engram/camera.conf.dpkg-new", None)  # dpkg leaves it
        self.assertEqual(after, before)

    def test_the_same_input_gives_the_same_bytes(self):
        self.build("1.0")
        first = (self.dir / "site.egb").read_bytes()
        self.json("bundle", "build", "--target", TARGET, "--deb", f"engram_1.0_{TARGET}.deb", "--model", "tiny",
                  "-o", "again.egb")
        self.assertEqual((self.dir / "again.egb").read_bytes(), first)

    def test_bad_bundles_change_nothing(self):
        made = self.build("1.0")
        whole = (self.dir / "site.egb").read_bytes()
        bad = self.dir / "bad.egb"

        def refused(data, says, code=DATA):
            bad.write_bytes(data)
            self.refused("--trust-new-key", code=code, says=says, name=bad)
            self.assertIn(says, self.json("bundle", "verify", bad, code=code)["error"])
        for length in (0, 1, 4096, 8191):
            refused(whole[:length], "bundle")
        for length in (8192, 8193, len(whole) - 1):
            refused(whole[:length], "cut short")
        refused(whole + b"x", "longer than the bundle")
        for at in (100, 4096 + 13, 4096 + 100, 8191):
            changed = bytearray(whole)
            changed[at] ^= 1
            refused(changed, "signature does not fit")
        at = 8192
        for member in made["members"]:
            changed = bytearray(whole)
            changed[at + member["bytes"] // 2] ^= 1
            refused(changed, f"{member['name']} in it is damaged")
            at += member["bytes"]
        refused(b"\x7fELF" + whole[4:], "not a bundle")
        self.refused("--trust-new-key", name=self.dir, code=DATA, says="")
        self.refused("--trust-new-key", name="absent.egb", code=MISSING, says="absent.egb")
        self.assertEqual(self.version(), "")

    def test_for_another_machine(self):
        package = self.package("1.0", target=OTHER)
        words = ("bundle", "build", "--deb", package, "--model", "tiny", "-o", "site.egb")
        self.assertIn(f"a package for {ARCHITECTURE[OTHER]}",
                      self.json(*words, "--target", TARGET, code=DATA)["error"])
        self.json(*words, "--target", OTHER)
        self.json("bundle", "verify", "site.egb")
        self.refused("--trust-new-key", code=UNSUPPORTED, says=f"a bundle for {OTHER}")

    def test_what_cannot_be_built(self):
        package, others = self.package("1.0"), self.package("1.0", name="other")
        words = ("bundle", "build", "--target", TARGET, "-o", "a.egb", "--deb")
        self.assertIn("not of engram", self.json(*words, others, "--model", "tiny", code=DATA)["error"])
        (self.dir / "no.deb").write_text("no package")
        self.assertIn("no Debian package", self.json(*words, "no.deb", "--model", "tiny", code=DATA)["error"])
        self.assertIn("nowhere", self.json(*words, package, "--model", "nowhere", code=MISSING)["error"])
        self.exported_state()
        self.assertIn("another backbone", self.json(*words, package, "--model", "other", "--with-state", self.state,
                                                 code=USAGE)["error"])
        (self.dir / "bad.conf").write_text("a line\n")
        self.assertIn("bad.conf:1", self.json(*words, package, "--model", "tiny", "--settings", "bad.conf",
                                              code=DATA)["error"])
        self.assertIn("already", self.json("bundle", "key", "new", code=USAGE)["error"])
        self.assertFalse((self.dir / "a.egb").exists())
        self.json("bundle", "build", "--target", TARGET, "--deb", package, "--without-model", "-o", "a.egb")

    def test_a_model_that_may_not_be_handed_on(self):
        self.json("model", "add", self.root / "tiny.onnx", "--as", "fetched", "--preset", "unit", "--pictures", self.photos)
        card = self.home / "models/fetched/card.json"
        card.write_text(card.read_text().replace('"format": 1', '"format": 1, "redistributable": false'))
        words = ("bundle", "build", "--target", TARGET, "--deb", self.package("1.0"), "-o", "a.egb")
        self.assertIn("may not be handed on", self.json(*words, "--model", "fetched", code=USAGE)["error"])
        self.assertFalse((self.dir / "a.egb").exists())
        self.json(*words, "--without-model")

    def test_another_model_of_that_name_is_not_replaced(self):
        self.build("1.0")
        self.install("--trust-new-key")
        home = self.dir / "desk"
        shutil.copytree(self.home / "keys", home / "keys")
        self.json("model", "add", self.root / "other.onnx", "--as", "tiny", "--preset", "unit", "--pictures", self.photos,
                  "--home", home)
        self.json("bundle", "build", "--target", TARGET, "--deb", self.package("2.0"), "--model", "tiny",
                  "-o", "site.egb", "--home", home)
        self.refused(code=USAGE, says="another model called tiny")
        self.assertEqual(self.version(), "1.0")

    def test_a_full_disk(self):
        self.build("1.0")
        before = self.everything()
        for limit in (10, 400):  # bytes that a file may have
            def limited():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            done = subprocess.run([PROGRAM, "bundle", "install", "site.egb", "--root", self.device, "--trust-new-key"],
                                  capture_output=True, text=True, env=self.environment(), cwd=self.dir,
                                  preexec_fn=limited, restore_signals=False)
            self.assertEqual(done.returncode, DISK, done.stderr)
            self.assertIn("Nothing was", done.stderr)
            self.assertEqual(self.everything(), before)
        self.install("--trust-new-key")

    def test_a_package_too_large_for_the_device(self):
        self.build("1.0", size=1 << 40)
        self.refused("--trust-new-key", code=DISK, says="MB are free. Nothing was changed")

    def test_two_at_once(self):
        self.build("1.0")
        folder = self.device / "var/lib/engram-bundle"
        folder.mkdir(parents=True)
        with subprocess.Popen(["flock", folder / "lock", "sleep", "60"]) as other:
            try:
                while subprocess.run(["flock", "--nonblock", folder / "lock", "true"]).returncode == 0:
                    pass
                self.refused("--trust-new-key", code=BUSY, says="lock")
            finally:
                other.terminate()

    def owners(self, folder):
        return {(path.lstat().st_uid, path.lstat().st_gid) for path in [folder, *folder.rglob("*")]}

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder to the service")
    def test_what_root_brings_belongs_to_the_service(self):
        digest = self.exported_state()
        self.build("1.0", "--with-state", self.state)
        self.dir.chmod(0o755)
        home, private = self.device / "var/lib/engram", self.device / "var/lib/private"
        private.mkdir(mode=0o700)  # as systemd keeps it: only root comes through
        (private / "engram").mkdir(mode=0o750)
        home.symlink_to("private/engram")
        os.chown(private / "engram", SERVICE, SERVICE)
        self.install("--trust-new-key")
        self.assertTrue((home / "models/tiny/model.onnx").is_file())
        self.assertEqual(self.owners(home.resolve()), {(SERVICE, SERVICE)})
        self.assertEqual(self.json("inspect", "--home", home, "--state", home / "state/default")["digest"], digest)
        self.assertEqual(self.owners(self.device / "var/lib/engram-bundle"), {(0, 0)})

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder to the service")
    def test_a_link_of_the_service_leads_root_nowhere(self):
        self.exported_state()
        self.build("1.0", "--with-state", self.state)
        self.dir.chmod(0o755)
        home, system = self.device / "var/lib/engram", self.device / "etc/system"
        home.mkdir()
        os.chown(home, SERVICE, SERVICE)
        (system / "below").mkdir(parents=True)
        (system / "below/secret").write_text("kept\n")
        for name in ("models", "state"):
            link = home / name
            link.symlink_to(system)
            said = self.install("--trust-new-key", code=DISK)["error"]
            self.assertIn(f"with the rights of user {SERVICE}", said)
            self.assertEqual(self.owners(system), {(0, 0)}, name)
            self.assertEqual([p.name for p in sorted(system.rglob("*"))], ["below", "secret"], name)
            self.assertEqual((system / "below/secret").read_text(), "kept\n")
            link.unlink()
        self.install()  # goes on once the link is gone
        self.assertEqual(self.owners(home), {(SERVICE, SERVICE)})

    @unittest.skipUnless(os.geteuid() == 0, "the script wants root")
    def test_the_first_time_it_is_a_script(self):
        self.build("1.0")
        note = self.dir / "note"
        env = self.environment(ENGRAM_TEST_NOTE=str(note))
        script = ["sh", self.dir / "site.egb", "--trust-new-key"]
        if shutil.which("engram", path=env["PATH"]):
            self.skipTest("an engram is installed here; the script would ask that one")
        done = subprocess.run(script, env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertEqual(note.read_text(), f"1.0: bundle install {self.dir}/site.egb --trust-new-key\n")
        note.unlink()
        changed = bytearray((self.dir / "site.egb").read_bytes())
        changed[8192 + 200] ^= 1
        (self.dir / "site.egb").write_bytes(changed)
        done = subprocess.run(script, env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, UNSUPPORTED)
        self.assertIn("is damaged", done.stderr)
        self.assertFalse(note.exists())
        # As the loader says it of a library that this machine has not.
        self.build("2.0", program="#!/bin/sh\necho libcudart.so.13: cannot open >&2\nexit 127\n")
        done = subprocess.run(script, env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, UNSUPPORTED)
        self.assertIn("does not start here: libcudart.so.13: cannot open. Nothing was changed", done.stderr)


if __name__ == "__main__":
    main()
