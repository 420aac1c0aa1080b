#!/usr/bin/python3
"""Tests fault_runs.py with a program that stands for tests of faults."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
TESTS = ("KillFaults.First", "KillFaults.Second", "SilenceFaults.First", "SilenceFaults.Second",
         "LinkFaults.First", "LinkFaults.Second", "LinkFaults.Third")
# A test logs its begin and its end, and leaves a row.
PROGRAM = """#!/usr/bin/python3
import fnmatch, json, os, sys, time
folder = {folder!r}
def log(text):
    with open(folder + "/log", "a") as file:
        file.write(text + "\\n")
chosen = sys.argv[1].removeprefix("--gtest_filter=")
if "--gtest_list_tests" in sys.argv:
    suite = ""
    for name in {tests!r}:
        if not any(fnmatch.fnmatchcase(name, one) for one in chosen.split(":")):
            continue
        first, last = name.split(".")
        if first != suite:
            print(first + ".")
        suite = first
        print("  " + last)
    sys.exit(0)
log("begin " + chosen)
if chosen == {hangs!r}:
    time.sleep(1000)
row = {{"test": chosen, "fault": "fault of " + chosen, "expected": "it holds", "cycles": 3,
       "long": True, "held": chosen != {fails!r}, "figures": []}}
with open(os.environ["PARETO_FAULT_FIGURES"] + "/" + chosen + ".json", "w") as file:
    json.dump(row, file)
print("said by " + chosen)
log("end " + chosen)
sys.exit(chosen == {fails!r})
"""


class FaultRuns(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def begin(self, *arguments, fails="", hangs=""):
        program = self.root / "program"
        program.write_text(PROGRAM.format(folder=str(self.root), tests=TESTS, fails=fails,
                                          hangs=hangs), encoding="utf-8")
        program.chmod(0o755)
        return subprocess.Popen([sys.executable, HERE / "fault_runs.py", "--root", self.root,
                                 *arguments, program], stderr=subprocess.PIPE, text=True)

    def run_all(self, *arguments, **more):
        runs = self.begin(*arguments, **more)
        said = runs.communicate(timeout=60)[1]
        return runs.returncode, said

    def log(self):
        return (self.root / "log").read_text(encoding="utf-8").splitlines()

    def page(self):
        return (self.root / "FAULTS.md").read_text(encoding="utf-8")

    def test_each_test_leaves_its_row_and_a_line(self):
        code, said = self.run_all()
        self.assertEqual(code, 0, said)
        for name in TESTS:
            self.assertIn(f"`{name}`", self.page())
            self.assertIn(f"test-faults: {name} passed, ", said)
        self.assertNotIn("said by", said)
        self.assertIn("7 passed or skipped, 0 failed", said)

    def test_what_is_to_be_alone_is_next_to_waiting_ones_only(self):
        self.run_all()
        at_work = set()
        for line in self.log():
            what, name = line.split()
            if what == "end":
                at_work.remove(name)
                continue
            at_work.add(name)
            working = [one for one in at_work if not one.startswith("SilenceFaults")]
            if any(one.startswith("KillFaults") for one in working):
                self.assertEqual(len(working), 1, self.log())

    def test_a_test_that_fails_is_shown_and_the_others_go_on(self):
        code, said = self.run_all(fails="LinkFaults.Second")
        self.assertEqual(code, 1)
        self.assertIn("LinkFaults.Second failed, ", said)
        self.assertIn("said by LinkFaults.Second", said)
        self.assertNotIn("said by LinkFaults.First", said)
        self.assertIn("**fault of LinkFaults.Second**", self.page())
        self.assertIn("6 passed or skipped, 1 failed", said)

    def test_runs_that_are_broken_off_keep_what_they_have(self):
        runs = self.begin(hangs="SilenceFaults.Second")
        for line in runs.stderr:
            if "SilenceFaults.First passed" in line:
                break
        runs.send_signal(signal.SIGINT)
        runs.communicate(timeout=60)
        self.assertEqual(runs.returncode, 130)
        self.assertIn("`SilenceFaults.First`", self.page())
        self.assertNotIn("`SilenceFaults.Second`", self.page())

    def test_a_name_that_no_test_has_is_said(self):
        code, said = self.run_all("--filter", "NoFaults.*")
        self.assertEqual(code, 1)
        self.assertIn("no test is named NoFaults.*", said)


if __name__ == "__main__":
    unittest.main()
