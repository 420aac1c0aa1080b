#!/usr/bin/python3
"""Tests fault_matrix.py, and that FAULTS.md is what the rows make."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
ROW = {"test": "KillFaults.AStage", "fault": "a stage | killed", "expected": "≤ 150 ms",
       "cycles": 1000, "long": True, "held": True,
       "figures": [{"name": "detected, longest", "value": 31.25, "unit": "ms"},
                   {"name": "lost", "value": 0.0, "unit": ""},
                   {"name": "answered", "value": 12345.0, "unit": ""}]}


def matrix(*arguments):
    return subprocess.run([sys.executable, HERE / "fault_matrix.py", *arguments],
                          capture_output=True, text=True, check=False)


class FaultMatrix(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.left = self.root / "left"
        self.left.mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def leave(self, **changes):
        row = {**ROW, **changes}
        (self.left / (row["test"] + ".json")).write_text(json.dumps(row), encoding="utf-8")

    def run_matrix(self, *arguments):
        return matrix("--root", self.root, *arguments)

    def page(self):
        return (self.root / "FAULTS.md").read_text(encoding="utf-8")

    def test_the_page_of_this_tree_is_what_the_rows_make(self):
        done = matrix("--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_row_becomes_a_line_of_the_table(self):
        self.leave()
        self.assertEqual(self.run_matrix("--take", self.left).returncode, 0)
        line = self.page().splitlines()[-1]
        self.assertTrue(line.startswith("| a stage \\| killed | ≤ 150 ms | "
                                        "detected, longest 31.2 ms; lost 0; answered 12 345 | "
                                        "1 000 | `KillFaults.AStage` | 20"), line)

    def test_rows_that_were_not_run_stay_with_their_figures(self):
        self.leave()
        self.run_matrix("--take", self.left)
        self.leave(test="KillFaults.Another", held=False)
        (self.left / "KillFaults.AStage.json").unlink()
        self.run_matrix("--take", self.left)
        self.assertIn("`KillFaults.AStage`", self.page())
        self.assertIn("| **a stage \\| killed** |", self.page())

    def test_the_short_form_is_refused(self):
        self.leave(long=False)
        done = self.run_matrix("--take", self.left)
        self.assertEqual(done.returncode, 1)
        self.assertIn("PARETO_LONG_FAULTS=1", done.stderr)
        self.assertNotIn("KillFaults", self.page())

    def test_the_short_form_is_taken_if_asked_for_and_replaces_no_long_one(self):
        self.leave(long=False, cycles=3)
        self.assertEqual(self.run_matrix("--take", self.left, "--brief").returncode, 0)
        self.assertIn("| 3, brief |", self.page())
        self.leave()
        self.run_matrix("--take", self.left)
        self.leave(long=False, cycles=3)
        self.run_matrix("--take", self.left, "--brief")
        self.assertIn("| 1 000 |", self.page())

    def test_a_page_that_was_written_by_hand_is_noticed(self):
        self.leave()
        self.run_matrix("--take", self.left)
        self.assertEqual(self.run_matrix("--check").returncode, 0)
        (self.root / "FAULTS.md").write_text(self.page() + "more\n", encoding="utf-8")
        self.assertEqual(self.run_matrix("--check").returncode, 1)


if __name__ == "__main__":
    unittest.main()
