"""Lines that the tests reached, per file of engine/ and kernels/.

Usage: coverage.py <build folder compiled with --coverage, tests run> <source folder>
A line counts once however many objects contain it (headers, templates).
"""
import json
import pathlib
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()
source = pathlib.Path(sys.argv[2]).resolve()
FOLDERS = ("engine", "kernels")

counts = {}  # file: {line: times reached}
for notes in sorted(build.rglob("*.gcno")):
    if not notes.with_suffix(".gcda").exists():
        continue
    report = subprocess.run(["gcov", "--json-format", "--stdout", notes.with_suffix(".gcda")],
                            cwd=build, capture_output=True, text=True, check=True).stdout
    for document in report.splitlines():
        for entry in json.loads(document)["files"]:
            path = (build / entry["file"]).resolve()
            if not path.is_relative_to(source):
                continue
            name = path.relative_to(source).as_posix()
            if name.split("/")[0] not in FOLDERS:
                continue
            lines = counts.setdefault(name, {})
            for line in entry["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, 0) + line["count"]


def row(name, lines):
    reached = sum(count > 0 for count in lines)
    print(f"{name:40} {reached:6} of {len(lines):6} lines  {100 * reached / len(lines):6.1f} %")


if not counts:
    sys.exit(f"{build} holds no coverage of {' or '.join(FOLDERS)}")
for name in sorted(name for name in counts if counts[name]):
    row(name, counts[name].values())
for folder in FOLDERS:
    row(f"{folder}/ in all", [count for name in counts if name.startswith(folder + "/")
                              for count in counts[name].values()])
