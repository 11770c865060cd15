"""engram bench kernels: text, CSV, JSON, and the comparison's exit code. No time is asserted.

Usage: bench_test.py <engram> <build folder> <source folder>.
"""
import csv
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[3]) / "tests" / "support"))
from cli_case import DATA, MISSING, USAGE, CliCase, main  # noqa: E402

SLOWER = 4
SMALL = ("bench", "kernels", "--hidden", "60", "--batch", "1,3", "--features", "40", "--classes", "3",
         "--samples", "7", "--pictures", "1", "--heads", "1", "--seconds", "0.002")


class Bench(CliCase):
    def test_every_operation_as_json_and_csv(self):
        report = self.json(*SMALL, "--csv", self.dir / "rows.csv")
        rows = report["rows"]
        measured = {row["operation"] for row in rows if row["backend"] == "cpu"}
        table = (pathlib.Path(sys.argv[3]) / "kernels" / "kernels.h").read_text()
        self.assertEqual(measured, set(re.findall(r"\.(\w+) = cpu::", table)))
        for row in rows:
            self.assertGreater(row["warm_seconds"], 0)
            self.assertGreater(row["cold_seconds"], 0)
            self.assertGreaterEqual(row["noise"], 0)
            self.assertGreater(row["gb_per_second"], 0)
            self.assertIn(row["peak"], ("memory", "float", "tensor"))
        with open(self.dir / "rows.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([(r["operation"], r["shape"]) for r in table],
                         [(r["operation"], r["shape"]) for r in rows])

    def test_a_comparison_tells_slower_by_its_exit_code(self):
        report = self.json(*SMALL, "--operation", "score,activate")
        old = self.dir / "old.json"
        for factor, code in ((1e6, 0), (1e-12, SLOWER)):  # far beyond any noise
            for row in report["rows"]:
                row["warm_seconds"], row["noise"] = factor, 0.0
            old.write_text(json.dumps(report))
            done = self.json(*SMALL, "--operation", "score", "--compare", old, code=code)
            self.assertEqual({change["operation"] for change in done["changes"]}, {"score"})
            self.assertEqual([change["slower"] for change in done["changes"]], [code == SLOWER] * 2)

    def test_a_comparison_of_nothing_is_told(self):
        old = self.dir / "old.json"
        old.write_text(json.dumps(self.json(*SMALL, "--operation", "activate")))
        done = self.json(*SMALL, "--operation", "score", "--compare", old, code=DATA)
        self.assertEqual(done["changes"], [])
        self.assertEqual([row["operation"] for row in done["missing"]], ["activate"] * 2)
        told = self.run_program(*SMALL, "--operation", "score", "--compare", old, code=DATA)
        self.assertIn("Nothing was compared", told.stderr)
        self.assertIn("  activate cpu B 3 M 60\n", told.stdout)

    def test_text_says_what_the_machine_tells(self):
        text = self.run_program(*SMALL, "--operation", "activate").stdout
        for word in ("activate", "warm", "noise", "GB/s", "of peak"):
            self.assertIn(word, text)

    def test_models_beside_each_other(self):
        report = self.json("bench", "models", "tiny", "other", "tiny", "--turns", "3")
        rows = report["rows"]
        self.assertEqual([row["model"] for row in rows], ["tiny", "other", "tiny"])
        self.assertEqual(rows[0]["ratio"], 1)
        for row in rows:
            self.assertEqual(row["features"], 64)
            self.assertGreaterEqual(row["median_seconds"], row["least_seconds"])
            self.assertGreater(row["least_seconds"], 0)
        self.assertIn("beside the first", self.run_program("bench", "models", "tiny", "--turns", "1").stdout)
        self.assertIn("none", self.run_program("bench", "models", "none", code=MISSING).stderr)
        self.run_program("bench", "models", code=USAGE)

    def test_bad_input(self):
        self.assertIn("gram_update", self.run_program("bench", "kernels", "--operation", "gram", code=USAGE).stderr)
        self.run_program("bench", "kernels", "--hidden", "0", code=USAGE)
        self.run_program("bench", code=USAGE)
        self.run_program(*SMALL, "--compare", self.dir / "none.json", code=MISSING)
        broken = self.dir / "broken.json"
        broken.write_text('{"rows": [1]}')
        self.assertIn("broken.json", self.run_program(*SMALL, "--compare", broken, code=DATA).stderr)


main()
