"""What the program says beyond a label: probabilities, "unknown", whether enough was taught, and open sets measured.

Usage: unknown_test.py <engram> <build folder> <source folder>. Needs nothing but the standard library:
the backbone is a tiny network made on the spot.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cli_case import USAGE, CliCase, main  # noqa: E402
from tiny_onnx import COLOURS, colour_picture, png  # noqa: E402

NAMES = list(COLOURS)


def stripes(number):
    """Unlike any picture of one colour."""
    return png(64, 64, lambda x, y: (255, 0, 255) if (x // 4 + y // 4 + number) % 2 else (0, 255, 0))


class Unknown(CliCase):
    def classify(self, *words):
        done = self.run_program("classify", *words, "--json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def strange(self):
        folder = self.dir / "strange"
        folder.mkdir(exist_ok=True)
        for number in range(6):
            (folder / f"{number}.png").write_bytes(stripes(number))
        return folder

    def test_fields_of_classify(self):
        self.learn("--tree", self.photos)
        for answer in self.classify(self.test_photos, "--top", "4"):
            self.assertEqual(list(answer), ["file", "label", "score", "probability", "unknown", "novelty", "top",
                                            "top_probabilities"])
            self.assertIs(type(answer["unknown"]), bool)
            self.assertEqual(answer["probability"], answer["top_probabilities"][0])
            self.assertEqual(sorted(answer["top_probabilities"], reverse=True), answer["top_probabilities"])
            # What is left of 1 is the probability of something else.
            self.assertAlmostEqual(sum(answer["top_probabilities"]) + answer["novelty"], 1, delta=1e-3)

    def test_one_class_says_unknown_without_a_probability(self):
        self.learn(NAMES[0], self.photos / NAMES[0])
        answers = self.classify(self.test_photos, self.strange())
        self.assertTrue(any(answer["unknown"] for answer in answers))
        for answer in answers:
            self.assertIsNone(answer["novelty"])
        lines = self.run_program("classify", self.test_photos, self.strange()).stdout.splitlines()
        for line in lines:
            self.assertNotEqual("unknown, closest" in line, "%" in line, line)

    def test_unknown_things_are_told(self):
        self.learn("--tree", self.photos)
        known, strange = self.classify(self.test_photos), self.classify(self.strange())
        self.assertLess(sum(a["unknown"] for a in known), len(known) / 3)
        self.assertGreater(sum(a["unknown"] for a in strange), len(strange) / 2)
        text = self.run_program("classify", self.strange()).stdout
        self.assertIn("unknown, closest: ", text)
        # The more false alarms may come, the more is called unknown.
        counts = [sum(a["unknown"] for a in self.classify(self.test_photos, "--false-alarm", percent))
                  for percent in ("0", "5", "50", "100")]
        self.assertEqual(counts, sorted(counts))
        self.assertEqual((counts[0], counts[-1]), (0, len(known)))

    def test_bad_rates_are_refused(self):
        self.learn("--tree", self.photos)
        for bad in ("-1", "100.1", "nan", "often", ""):
            for command in (["classify", self.test_photos], ["evaluate", "--features", "f.npz", "--open-set", "0.3"]):
                refused = self.run_program(*command, f"--false-alarm={bad}", code=USAGE)
                self.assertIn("--false-alarm", refused.stderr, bad)
        for bad in ("0", "1", "-0.5", "nan", "some"):
            self.assertIn("--open-set", self.run_program("evaluate", "--features", "f.npz", f"--open-set={bad}",
                                                         code=USAGE).stderr)

    def test_unknown_without_samples_kept(self):
        """A stream in which no class comes twice, and of which only sums are kept."""
        self.learn(NAMES[0], self.photos / NAMES[0] / "0.png", "--keep-features", "no")
        early = self.json("inspect")
        self.assertEqual((early["form"], early["unknown"]["said"]), ("dense", False))
        self.assertIn("never said", early["unknown"]["note"])
        self.assertIn("never said", self.run_program("inspect").stdout)
        self.assertFalse(any(a["unknown"] for a in self.classify(self.strange())))
        more = self.dir / "more"
        for colour in COLOURS:
            (more / colour).mkdir(parents=True)
            for number in range(30, 54):
                (more / colour / f"{number}.png").write_bytes(colour_picture(colour, number))
            self.learn(colour, more / colour)
        late = self.json("classes")["unknown"]
        self.assertTrue(late["said"])
        self.assertGreaterEqual(late["known_examples"], 60)
        self.assertGreater(sum(a["unknown"] for a in self.classify(self.strange())), 3)
        known = self.classify(self.test_photos)
        self.assertLess(sum(a["unknown"] for a in known), len(known) / 3)

    def test_classes_say_what_to_show(self):
        self.learn("--tree", self.photos)
        self.learn(NAMES[0], self.photos / NAMES[0] / "0.png")  # once more
        self.learn("lonely", self.photos / NAMES[1] / "1.png")
        about = self.json("classes")
        self.assertEqual(set(about) - {"accuracy"},
                         {"state", "classes", "samples", "confusable", "duplicates", "unknown", "rounded",
                          "judged_samples"})
        self.assertFalse(about["rounded"])
        self.assertGreater(about["accuracy"], 0.5)
        self.assertTrue(all("accuracy" in c for c in about["classes"] if c["label"] != "lonely"))
        self.assertIn([1.0, [NAMES[0], NAMES[0]]],
                      [[round(d["similarity"], 3), d["labels"]] for d in about["duplicates"]])
        for pair in about["confusable"]:
            self.assertEqual(set(pair), {"label", "looks_like", "count", "of", "show_more"})
            self.assertGreaterEqual(pair["show_more"], 1)
        text = self.run_program("classes").stdout
        self.assertIn("lonely has 1 sample: show 2 more to judge it", text)
        self.assertIn("are nearly the same picture", text)
        self.assertRegex(text, r"unknown: (told|said) ")
        self.assertEqual(about["unknown"]["note"], self.json("inspect")["unknown"]["note"])

    def test_open_set_reports(self):
        base = ["evaluate", "--train", self.photos, "--test", self.test_photos, "--model", "tiny", "--hidden", "300",
                "--open-set", "0.25", "--seed", "1993,1994"]
        answer = self.json(*base, "--out", "open")
        self.assertEqual(answer, json.loads((self.dir / "open/open_set.json").read_text()))
        self.assertEqual((len(answer["open_set"]), answer["false_alarms_asked"]), (2, 0.05))
        for run in answer["open_set"]:
            self.assertEqual((run["taught_classes"], run["held_out_classes"]), (3, 1))
            self.assertEqual((run["learned"], run["known"], run["unknown"]), (24, 12, 4))
            for share in ("auroc", "auroc_best_score", "false_alarms", "detected", "accuracy", "calibration_error"):
                self.assertTrue(0 <= run[share] <= 1, share)
            self.assertEqual(sum(b["count"] for b in run["reliability"]), 16)
            self.assertEqual(sum(b["count"] for b in run["reliability_known"]), 12)
        text = (self.dir / "open/open_set.txt").read_text()
        for word in ("AUROC", "false alarms", "ECE", "asked for: 5.0 %"):
            self.assertIn(word, text)
        for name in ("reliability.svg", "reliability_known.svg"):
            svg = xml.etree.ElementTree.parse(self.dir / "open" / name).getroot()
            self.assertEqual(len(svg.findall("{http://www.w3.org/2000/svg}polyline")), 2, name)
        stream = self.json(*base, "--tasks", "3", "--keep-features", "no", "--shots", "6")["open_set"]
        self.assertEqual([run["learned"] for run in stream], [18, 18])
        refused = self.json(*base, "--head", "ncm", code=USAGE)
        self.assertIn("not ncm", refused["error"])


if __name__ == "__main__":
    main()
