"""`engram evaluate` as users meet it: pictures and feature files, protocols, heads, reports.

Usage: evaluate_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made on the spot.
"""
import json
import pathlib
import random
import re
import struct
import sys
import xml.etree.ElementTree
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import DATA, DISK, MISSING, USAGE, CliCase, main  # noqa: E402
from tiny_onnx import COLOURS, colour_picture  # noqa: E402


class Evaluate(CliCase):
    def test_evaluate(self):
        heads = ["exact", "float", "float-bipolar", "none", "ncm"]
        answer = self.json("evaluate", "--train", self.photos, "--test", self.test_photos,
                           "--tasks", "2", "--head", ",".join(heads), "--hidden", "500",
                           "--lambda", "1", "--model", "tiny", "--out", "report")
        self.assertEqual(answer, json.loads((self.dir / "report/report.json").read_text()))
        self.assertEqual([h["head"] for h in answer["heads"]], heads)
        for head in answer["heads"]:
            run, = head["runs"]
            self.assertEqual([len(t["accuracy"]) for t in run["tasks"]], [1, 2])
            self.assertEqual(sorted(run["class_order"]), [0, 1, 2, 3])
            first, last = run["tasks"]
            self.assertAlmostEqual(last["average_accuracy"], sum(last["accuracy"]) / 2)
            lost = first["accuracy"][0] - last["accuracy"][0]
            self.assertAlmostEqual(last["forgetting"], lost)
            self.assertGreater(last["top1"], 60, head["head"])
        self.assertGreater(answer["peak_memory_bytes"], 1_000_000)
        text = (self.dir / "report/report.txt").read_text()
        for word in ("A_T", "F_T", "top-1", "float-bipolar", "peak memory"):
            self.assertIn(word, text)
        svg = xml.etree.ElementTree.parse(self.dir / "report/accuracy.svg").getroot()
        self.assertEqual(len(svg.findall("{http://www.w3.org/2000/svg}polyline")), 5)
        self.assertFalse(self.state.exists(), "evaluate touched a state")

    def test_evaluate_at_the_edges(self):
        one = self.dir / "one/only"
        one.mkdir(parents=True)
        (one / "a.png").write_bytes(colour_picture("red", 1))
        base = ["evaluate", "--train", one.parent, "--model", "tiny", "--hidden", "100"]
        same = [*base, "--test", one.parent]
        self.assertEqual(self.json(*same)["heads"][0]["top1"], 100)
        self.json(*same, "--tasks", "2", code=USAGE)
        self.json(*same, "--protocol", "magic", code=USAGE)
        self.assertEqual(self.json(*same)["heads"][0]["kind"], "engram")  # what `learn` makes
        self.json(*same, "--head", "magic", code=USAGE)
        done = self.run_program(*base, "--test", self.test_photos, code=DATA)
        self.assertIn("left out", done.stderr)

    def test_where_results_go_is_tried_before_the_work_and_they_are_shown_anyway(self):
        words = ["evaluate", "--train", self.photos, "--test", self.test_photos, "--model", "tiny",
                 "--hidden", "100"]
        (self.dir / "file").write_text("x")
        done = self.run_program(*words, "--out", "file/out", code=DISK)
        self.assertEqual(done.stdout, "")
        done = self.run_program(*words, "--out", "/proc", code=DISK)  # a folder that takes no file
        self.assertEqual(done.stdout, "")
        self.assertIn("Nothing was computed", done.stderr)
        (self.dir / "out/report.txt").mkdir(parents=True)  # cannot be written
        done = self.run_program(*words, "--out", "out", code=DISK)
        self.assertIn("top-1", done.stdout)

    # ---- feature files ---------------------------------------------------------------------------
    @staticmethod
    def npy(values, shape, kind="<f4"):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
        code = {"<f4": "f", "<i4": "i"}[kind]
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(
            f"<{len(values)}{code}", *values)

    def feature_file(self, **changed):
        """Four classes in eight dimensions, five training and three test samples each, two domains."""
        arrays = {}
        for part, each in (("train", 5), ("test", 3)):
            rows = [(k, i) for k in range(4) for i in range(each)]
            x = [float(3 * (l % 4 == k) + (i * 7 + l * 3) % 5 / 5) for k, i in rows for l in range(8)]
            arrays[f"x_{part}"] = self.npy(x, (len(rows), 8))
            arrays[f"y_{part}"] = self.npy([k for k, _ in rows], (len(rows),), "<i4")
            arrays[f"domain_{part}"] = self.npy([i % 2 for _, i in rows], (len(rows),), "<i4")
        path = self.dir / "f.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**arrays, **changed}.items():
                archive.writestr(name + ".npy", content)
        return path

    def test_features_need_no_backbone(self):
        heads = ["exact", "float", "none", "pairwise", "ncm", "lda", "rp-lda", "scaled", "balanced", "probe"]
        answer = self.json("evaluate", "--features", self.feature_file(), "--home", self.dir / "none", "--head",
                           ",".join(heads), "--hidden", "100", "--tasks", "2", "--lambda", "1")
        self.assertEqual([h["head"] for h in answer["heads"]], heads)
        self.assertEqual((answer["model"], answer["features"], answer["scale_measured"]), ("features", 8, True))
        for head in answer["heads"]:
            self.assertEqual(len(head["runs"][0]["predictions"]), 12)
            self.assertGreater(head["top1"], 70, head["head"])
        for name in ("report.txt", "report.json", "results.csv", "accuracy.svg", "report.html"):
            self.assertGreater((self.dir / "engram-report" / name).stat().st_size, 100, name)

    def test_the_bar_knows_how_many_tasks_there_are(self):
        draw, classes = random.Random(1), 12
        arrays = {}
        for part, each in (("train", 200), ("test", 4)):
            rows = [k for k in range(classes) for _ in range(each)]
            x = [draw.gauss(3 * (l == k), 1) for k in rows for l in range(16)]
            arrays[f"x_{part}"] = self.npy(x, (len(rows), 16))
            arrays[f"y_{part}"] = self.npy(rows, (len(rows),), "<i4")
        arrays |= {f"domain_{part}": self.npy([i % 3 for i in range(classes * each)], (classes * each,), "<i4")
                   for part, each in (("train", 200), ("test", 4))}
        base = ["evaluate", "--features", self.feature_file(**arrays), "--head", "float", "--hidden", "2000", "--lambda", "1"]
        for words, tasks in ((["--first", "1", "--increment", "1"], 12), (["--protocol", "dil"], 3)):
            shown = self.on_terminal(*base, *words)
            totals = set(re.findall(r"[─━╸]  \d+/(\d+)", shown))
            self.assertLessEqual(totals, {str(tasks)}, words)  # a quick machine shows no bar

    def test_lists_are_compared_and_seeds_averaged(self):
        answer = self.json("evaluate", "--features", self.feature_file(), "--head", "float,ncm", "--hidden", "100,200",
                           "--lambda", "1,code", "--nonlinearity", "relu,square", "--seed", "1993,1994",
                           "--projection-seed", "1,2,3", "--tasks", "2")
        self.assertEqual([h["head"] for h in answer["heads"]],
                         [f"float, {n}, {l}, M {m}" for m in (100, 200) for n in ("relu", "square")
                          for l in ("1", "code")] + ["ncm"])
        self.assertEqual([len(h["runs"]) for h in answer["heads"]], [6] * 8 + [2])
        lines = (self.dir / "engram-report/results.csv").read_text().splitlines()
        self.assertEqual(len(lines), 1 + (8 * 6 + 2) * 2)

    def test_protocols(self):
        base = ["evaluate", "--features", self.feature_file(), "--head", "exact,ncm", "--hidden", "100", "--lambda", "1"]
        dil = self.json(*base, "--protocol", "dil")
        self.assertEqual(dil["domains"], ["0", "1"])
        self.assertEqual([len(t["accuracy"]) for t in dil["heads"][0]["runs"][0]["tasks"]], [2, 2])
        self.assertEqual(self.json(*base, "--protocol", "dil", "--domains", "1,0")["domains"], ["1", "0"])
        self.json(*base, "--protocol", "dil", "--domains", "1", code=USAGE)
        stream = self.json(*base, "--protocol", "task-free", "--tasks", "5", "--queue", "4")
        self.assertEqual(len(stream["heads"][0]["runs"][0]["tasks"]), 5)
        self.assertEqual(len(self.json(*base, "--protocol", "joint")["heads"][0]["runs"][0]["tasks"]), 1)
        grown = self.json(*base, "--first", "1", "--increment", "2", "--no-shuffle")["heads"][0]["runs"][0]
        self.assertEqual((grown["task_sizes"], grown["class_order"]), ([1, 2, 1], [0, 1, 2, 3]))
        tail = self.json(*base, "--long-tail", "5:1", "--tasks", "1")["heads"][0]["runs"][0]["tasks"][0]
        self.assertEqual(tail["train_samples"], 5 + 3 + 2 + 1)
        self.assertEqual(self.json(*base, "--shots", "2")["heads"][0]["runs"][0]["tasks"][-1]["train_samples"], 2)

    def test_a_small_stream_is_tested_as_often_as_it_has_samples(self):
        base = ["evaluate", "--features", self.feature_file(), "--head", "exact", "--hidden", "100", "--lambda", "1",
                "--protocol", "task-free", "--shots", "3"]
        self.assertEqual(len(self.json(*base)["heads"][0]["runs"][0]["tasks"]), 12)
        self.assertIn("12 samples cannot be tested 20 times", self.json(*base, "--tasks", "20", code=USAGE)["error"])

    def test_tasks_that_cannot_be_are_refused_before_features_are_computed(self):
        # No such model: it would be missed as soon as a picture had to be read.
        base = ["evaluate", "--train", self.photos, "--test", self.test_photos, "--model", "none-such", "--hidden", "100"]
        for words, says in ((["--tasks", "5"], "5 tasks of 4 classes"), (["--first", "9", "--increment", "1"], "first task of 9"),
                            (["--protocol", "task-free", "--tasks", "33"], "32 samples cannot be tested 33 times"),
                            (["--tasks", "2", "--first", "2"], "give one of them")):
            self.assertIn(says, self.json(*base, *words, code=USAGE)["error"])
        self.json(*base, "--tasks", "4", code=MISSING)

    def test_domains_in_folders(self):
        for domain, numbers in (("day", range(4)), ("night", range(4, 8))):
            for part, some in (("train", numbers), ("test", range(100, 102))):
                for colour in COLOURS:
                    (self.dir / "d" / domain / part / colour).mkdir(parents=True)
                    for number in some:
                        (self.dir / f"d/{domain}/{part}/{colour}/{number}.png").write_bytes(colour_picture(colour, number))
        base = ["evaluate", "--protocol", "dil", "--model", "tiny", "--hidden", "100", "--head", "ncm",
                "--train", "d/{}/train", "--test", "d/{}/test"]
        answer = self.json(*base, "--domains", "night,day")
        self.assertEqual(answer["domains"], ["night", "day"])
        self.assertEqual(len(answer["heads"][0]["runs"][0]["tasks"]), 2)
        self.assertIn("--domains", self.json(*base, code=USAGE)["error"])

    def test_regression_targets(self):
        def targets(rows):
            names = "".join(f"{k}".ljust(1) for k in range(4)).encode()
            with zipfile.ZipFile(self.dir / "t.npz", "w") as archive:
                values = [float(k == c) for k in range(rows) for c in range(6)]
                archive.writestr("embeddings.npy", self.npy(values, (rows, 6)))
                text = self.npy([], (4,)).replace(b"'<f4'", b"'|S1'")
                archive.writestr("names.npy", text + names)
            return self.dir / "t.npz"
        base = ["evaluate", "--features", self.feature_file(), "--head", "exact,regression", "--hidden", "100", "--lambda",
                "1", "--tasks", "2"]
        plain, regression = self.json(*base, "--targets", targets(4))["heads"]
        self.assertEqual(plain["runs"][0]["predictions"], regression["runs"][0]["predictions"])  # orthogonal targets
        self.assertIn("4 names", self.json(*base, "--targets", targets(3), code=DATA)["error"])
        self.assertIn("target", self.json(*base, code=USAGE)["error"])

    def test_bad_feature_files(self):
        for changed, words in (({"x_train": b"text"}, "no array that NumPy saved"),
                               ({"x_train": self.npy([float("nan")] * 160, (20, 8))}, "NaN"),
                               ({"x_train": self.npy([1.0] * 160, (160,))}, "(rows, L)"),
                               ({"x_test": self.npy([1.0] * 84, (12, 7))}, "rows of 8 features"),
                               ({"y_train": self.npy([1], (1,), "<i4")}, "20 rows")):
            refused = self.json("evaluate", "--features", self.feature_file(**changed), code=DATA)
            self.assertIn(words, refused["error"])
        self.json("evaluate", "--features", "missing.npz", code=MISSING)
        self.json("evaluate", "--features", "f.npz", "--train", "f.npz", code=USAGE)
        self.json("evaluate", "--train", "f.npz", "--test", self.test_photos, code=USAGE)
        self.json("evaluate", code=USAGE)
        self.assertFalse((self.dir / "engram-report").exists())


if __name__ == "__main__":
    main()
