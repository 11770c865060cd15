"""Videos through the module for GStreamer, with the real GStreamer: made here, read by our addresses.

Usage: cameras_test.py <program> <build folder> <source folder>. Exits 77 without GStreamer.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[2])
DUMP = BUILD / "tests" / "camera_dump"
MODULE = BUILD / "libengram_gstreamer.so"


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


if not MODULE.exists():
    skip("this build has no libengram_gstreamer.so: CMake did not find gstreamer-app-1.0")
if shutil.which("gst-launch-1.0") is None:
    skip("gst-launch-1.0 is not installed (package gstreamer1.0-tools)")


def make(path, pattern, encoder, frames=12):
    """A video of 64 x 48 pixels, at 24 frames a second."""
    made = subprocess.run(
        ["gst-launch-1.0", "-q", "videotestsrc", f"num-buffers={frames}", f"pattern={pattern}", "!",
         "video/x-raw,format=I420,width=64,height=48,framerate=24/1", "!", *encoder.split(), "!",
         "filesink", f"location={path}"], capture_output=True, text=True, timeout=60)
    if made.returncode != 0:
        skip(f"gst-launch-1.0 cannot make a video: {made.stderr.strip()}")


def dump(address, count=100, **environment):
    environment = {**os.environ, "ENGRAM_PLUGINS": str(BUILD), **environment}
    run = subprocess.run([DUMP, str(address), str(count)], capture_output=True, text=True, timeout=100,
                         env=environment)
    assert run.returncode in (0, 1), run
    return [line for line in run.stdout.split("\n") if line]


class Videos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="engram-test-")
        cls.home = pathlib.Path(cls.folder.name)
        cls.registry = {"GST_REGISTRY": str(cls.home / "registry.bin")}
        os.environ.update(cls.registry)  # nothing is written into the user's home
        cls.red = cls.home / "red.avi"
        make(cls.red, "red", "jpegenc ! avimux")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_avi_of_jpegs(self):
        lines = dump(f"file://{self.red}")
        frames = [line.split() for line in lines if line.startswith("frame")]
        self.assertGreaterEqual(len(frames), 2, lines)
        self.assertLessEqual(len(frames), 12)
        for _, width, height, red, green, blue, format in frames:
            self.assertEqual((width, height), ("64", "48"))
            self.assertGreater(int(red), 230)
            self.assertLess(int(green) + int(blue), 50)
            self.assertEqual(format, "nv12")  # decoded, it is 4:2:0, and stays so
        self.assertEqual(lines[-1], f"not_found {self.red}: has been shown in full.")

    def test_another_codec(self):
        video = self.home / "green.ogv"
        make(video, "green", "theoraenc ! oggmux")
        frames = [line.split() for line in dump(video) if line.startswith("frame")]
        self.assertGreaterEqual(len(frames), 2)
        self.assertGreater(int(frames[0][4]), 200)

    def test_a_name_is_never_a_part_of_the_pipeline(self):
        odd = self.home / 'odd " ! fakesink name=%41 \' .avi'
        shutil.copy(self.red, odd)
        self.assertTrue(dump(odd)[0].startswith("frame 64 48"))

    def test_over_and_over(self):
        lines = dump(f"file://{self.red}?loop=1", 40)
        self.assertEqual([line for line in lines if not line.startswith("frame")], [])
        self.assertEqual(len(lines), 40)  # of a video with 12

    def test_unreadable(self):
        text = self.home / "text.mp4"
        text.write_text("this is no video\n" * 100)
        lines = dump(text, 1)
        self.assertTrue(lines[0].startswith(f"io_failure {text}: "), lines)
        half = self.home / "half.avi"
        half.write_bytes(self.red.read_bytes()[:300])
        self.assertTrue(dump(half, 1)[0].startswith(f"io_failure {half}: "))
        sound = self.home / "sound.ogg"
        subprocess.run(["gst-launch-1.0", "-q", "audiotestsrc", "num-buffers=20", "!", "vorbisenc", "!", "oggmux",
                        "!", "filesink", f"location={sound}"], check=True, timeout=60)
        self.assertTrue(dump(sound, 1)[0].startswith(f"io_failure {sound}: "))

    def test_no_such_host_says_so_without_the_password(self):
        lines = dump("rtsp://me:s3cret@127.0.0.1:9/live", 1)  # discard: nobody listens there
        self.assertTrue(lines[0].startswith("io_failure rtsp://127.0.0.1:9/live: "), lines)
        self.assertNotIn("s3cret", lines[0])

    def test_csi_needs_a_jetson(self):
        line = dump("csi://0", 1)[0]
        if line.startswith("frame"):
            return  # it is one
        self.assertRegex(line, "^(not_supported|io_failure) csi://0: ")

    def test_installed(self):
        """Found without ENGRAM_PLUGINS, in lib/engram; and missed when it is not there."""
        home = self.home / "installed"
        (home / "bin").mkdir(parents=True)
        (home / "lib" / "engram").mkdir(parents=True)
        shutil.copy(DUMP, home / "bin" / "dump")
        for library in BUILD.glob("libengram.so*"):
            shutil.copy(library, home / "lib" / library.name)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(home / "lib")}
        environment.pop("ENGRAM_PLUGINS", None)

        def first_line():
            return subprocess.run([home / "bin" / "dump", str(self.red), "1"], capture_output=True, text=True,
                                  timeout=60, env=environment).stdout

        self.assertIn(f"This build has no module for it ({MODULE.name} is not in {home / 'bin'}, ", first_line())
        shutil.copy(MODULE, home / "lib" / "engram" / MODULE.name)
        self.assertTrue(first_line().startswith("frame 64 48"))

    def test_another_version_is_refused(self):
        source = self.home / "old.c"
        source.write_text("static unsigned v = 999; void* engram_video_plugin(void) { return &v; }\n")
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler")
        old = self.home / "old"
        old.mkdir()
        subprocess.run([compiler, "-shared", "-fPIC", "-o", old / MODULE.name, source], check=True)
        line = dump(self.red, 1, ENGRAM_PLUGINS=str(old))[0]
        self.assertIn("another version of Engram", line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
