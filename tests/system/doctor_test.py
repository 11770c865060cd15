"""engram doctor and --backend: one report, on machines without a GPU by the emulator.

Usage: doctor_test.py <engram> <build folder> <source folder>.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[3]) / "tests" / "support"))
from cli_case import DATA, UNSUPPORTED, USAGE, CliCase, main  # noqa: E402

OPERATIONS = {"preprocess", "quantise", "sign_project", "activate", "project", "score", "gram_update",
              "class_sums", "kernel_rows", "combine_rows", "cholesky", "cholesky_solve",
              "inverse_diagonal", "factor_append", "triangular_solve", "leverage", "feature_score",
              "frame",  # all that its features meet, in one piece
              # first-session adaptation
              "patches", "embed_tokens", "set_tokens", "sum_tokens", "layer_norm", "layer_norm_back", "attention",
              "attention_back", "gelu", "gelu_back", "linear", "linear_back", "linear_gradient", "scale_shift",
              "scale_shift_back", "add_scaled", "dropout", "unit_rows", "unit_rows_back", "cross_entropy", "sgd_step"}
DISK = 74


class Doctor(CliCase):
    def test_one_report_of_machine_and_kernels(self):
        report = self.json("doctor")
        self.assertTrue(report["passed"])
        topics = {finding["topic"]: finding for finding in report["findings"]}
        self.assertLessEqual({"machine", "processor", "GPU", "TensorRT", "power", "memory", "cameras",
                              "storage", "clock", "speed"}, set(topics))
        for finding in report["findings"]:
            self.assertIn(finding["verdict"], ("ok", "note", "warning"))
            self.assertGreater(len(finding["text"]), 3)
        tried = {trial["operation"] for trial in report["kernels"]}
        self.assertEqual(tried | set(report["on_the_cpu"]), OPERATIONS)
        self.assertFalse(tried & set(report["on_the_cpu"]))
        for trial in report["kernels"]:
            self.assertTrue(trial["tried"] and trial["passed"], trial)
            self.assertLessEqual(trial["difference"], trial["tolerance"])
            if trial["whole_numbers"]:
                self.assertEqual(trial["difference"], 0, trial)
        self.assertIn("sign_project", tried)

    def test_without_a_gpu_it_says_that_it_emulates(self):
        report = self.json("--backend", "cpu", "doctor")
        self.assertEqual(report["kernels_ran_on"], "emulator")
        self.assertEqual(report["backend"]["name"], "cpu")
        text = self.run_program("--backend", "cpu", "doctor").stdout
        self.assertIn("emulator", text)
        self.assertIn("the same bits", text)

    def test_it_changes_nothing(self):
        self.run_program("doctor")
        self.assertFalse(self.state.exists())

    def test_a_broken_state_fails_and_is_named(self):
        self.learn("red", self.photos / "red")
        snapshot = self.state / "snapshot"
        snapshot.write_bytes(snapshot.read_bytes()[:-7] + b"garbage")
        done = self.run_program("doctor", code=DATA)
        self.assertIn("FAILURE", done.stdout)
        self.assertIn(str(self.state), done.stdout)

    def test_a_home_that_cannot_be_written_fails(self):
        if os.geteuid() == 0:
            home = "/proc/engram"  # nobody writes there
        else:
            home = self.dir / "locked"
            home.mkdir(mode=0o555)
        done = self.run_program("--home", home, "doctor", code=DISK)
        self.assertRegex(done.stdout, "FAILURE +storage .{20}")


class Backend(CliCase):
    def test_a_backend_that_is_not_there_is_refused_before_anything_happens(self):
        if self.json("doctor")["kernels_ran_on"] == "gpu":
            self.skipTest("this machine has a GPU")
        done = self.run_program("--backend", "cuda", "learn", "red", self.photos / "red", "--model",
                                "tiny", code=UNSUPPORTED)
        self.assertIn("--backend cpu", done.stderr)
        self.assertFalse(self.state.exists())

    def test_auto_goes_on_with_what_there_is(self):
        self.learn("red", self.photos / "red")
        answer = self.json("inspect")["backend"]
        self.assertIn(answer["name"], ("cpu", "cuda"))
        if answer["name"] == "cpu":
            self.assertIn("CPU", answer["why"])
        self.assertIn("computes on", self.run_program("inspect").stdout)
        self.assertNotIn("why", self.json("--backend", "cpu", "inspect")["backend"])

    def test_no_such_backend(self):
        self.run_program("--backend", "tpu", "version", code=USAGE)


main()
