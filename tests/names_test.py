"""Names that are a file's own (unnamed namespaces) differ within engine/ and within tools/, which are compiled several files at
a time: whichever files come together, now or after another was added, they compile.

Usage: names_test.py <build folder>. Compiles all files of a target's unity build as one, without making anything of it.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

UNITY = re.compile(r"/CMakeFiles/(\w+)\.dir/Unity/")


def main():
    build = pathlib.Path(sys.argv[1])
    targets = {}  # name: (words of a command, files)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        found = UNITY.search(entry["file"])
        if not found:
            continue
        _, files = targets.setdefault(found[1], (entry, []))
        files += re.findall(r'#include "(.*)"', pathlib.Path(entry["file"]).read_text())
    assert targets, "nothing is compiled several files at a time"
    failed = False
    for name, (entry, files) in sorted(targets.items()):
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as whole:
            whole.writelines(f'#include "{file}"\n' for file in sorted(files))
            whole.flush()
            words = shlex.split(entry["command"])
            options = [word for word in words if word.startswith(("-I", "-D", "-std"))]
            options += [words[i + k] for i, word in enumerate(words) if word == "-isystem" for k in (0, 1)]
            compiler = next(word for word in words if "ccache" not in word)
            done = subprocess.run([compiler, *options, "-w", "-fsyntax-only", whole.name], cwd=entry["directory"],
                                  capture_output=True, text=True)
        print(f"{name}: {len(files)} files as one: {'ok' if done.returncode == 0 else 'do not compile'}")
        if done.returncode != 0:
            failed = True
            print("\n".join(line for line in done.stderr.splitlines() if "error" in line))
    sys.exit(failed)


if __name__ == "__main__":
    main()
