"""Installs the build, moves the installation, and uses it as others would: the program, the
README's C++ through find_package(Engram), and a C program through pkg-config."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

program, build, source = (os.path.abspath(argument) for argument in sys.argv[1:4])
sys.path.insert(0, os.path.join(source, "tests", "support"))
from model_home import model_home, stamp  # noqa: E402

CONSUMER = """cmake_minimum_required(VERSION 3.22)
project(Consumer CXX)
find_package(Engram 0.1 REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE Engram::engram)
"""


def run(*command, **options):
    print("+", " ".join(command), flush=True)
    # What libraries remark on stderr (hwloc, where there is no /sys) is not the answer.
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, timeout=900, **options)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode} of: {' '.join(command)}")
    return done.stdout


def readme_program():
    with open(os.path.join(source, "README.md"), encoding="utf-8") as readme:
        return re.search(r"```cpp\n(.*?)```", readme.read(), re.DOTALL).group(1)


def install(folder):
    """Returns the prefix. It is moved after installing: nothing may point to where it was made."""
    first = os.path.join(folder, "first")
    run("cmake", "--install", build, "--prefix", first)
    prefix = os.path.join(folder, "prefix")
    os.rename(first, prefix)
    for path in ("bin/engram", "include/engram/engine/recogniser.h", "lib/libengram.so",
                 "lib/pkgconfig/engram.pc", "lib/cmake/Engram/EngramConfig.cmake"):
        assert os.path.exists(os.path.join(prefix, path)), path
    return prefix


def check_program(prefix):
    run(os.path.join(prefix, "bin/engram"), "--version")
    libraries = run("ldd", os.path.join(prefix, "lib/libengram.so"))
    assert "not found" not in libraries
    assert source + os.sep not in libraries, "the installed library needs the checkout"


def check_cmake(prefix, folder):
    """Compiles what the README shows and runs it on the files that it names."""
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as text:
        text.write(CONSUMER)
    with open(os.path.join(folder, "consumer.cpp"), "w", encoding="utf-8") as text:
        text.write(readme_program())
    # The content counts, not the ending.
    shutil.copy(stamp("household/tools/toolbox.png"), os.path.join(folder, "toolbox.jpg"))
    shutil.copy(stamp("food/fruit/banana.png"), os.path.join(folder, "banana.jpg"))
    shutil.copy(stamp("food/fruit/banana.png"), os.path.join(folder, "what.jpg"))
    run("cmake", "-G", "Ninja", "-S", folder, "-B", os.path.join(folder, "out"),
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", os.path.join(folder, "out"))
    said = run(os.path.join(folder, "out", "consumer"), cwd=folder)
    assert said.split()[0] == "banana", said


def check_pkg_config(prefix, folder, home):
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(prefix, "lib/pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "engram", env=environment).split()
    assert f"-I{prefix}" in flags[0].replace("/lib/pkgconfig/../..", ""), flags
    test = os.path.join(folder, "c_test")
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", test,
        os.path.join(source, "tests/system/c_api_test.c"), *flags,
        f"-Wl,-rpath,{os.path.join(prefix, 'lib')}")
    photos = [f"{name}={stamp(path)}" for name, path in
              (("banana", "food/fruit/banana.png"), ("boat", "vehicles/ship/walnutBoat.png"))]
    run(test, home, os.path.join(folder, "c_state"), *photos, cwd=folder)


with tempfile.TemporaryDirectory() as temporary:
    folder = os.path.realpath(temporary)
    prefix = install(folder)
    check_program(prefix)
    home = model_home(program, build, source)
    os.environ["ENGRAM_HOME"] = home
    check_cmake(prefix, folder)
    check_pkg_config(prefix, folder, home)
print("installation: ok")
