#!/usr/bin/python3
"""Runs tests of faults, several at once, and writes the row of each as soon as it ends.

usage: fault_runs.py [--filter FILTER] [--brief] [--root ROOT] PROGRAM…

PROGRAM  test programs; those of their tests that FILTER picks (default: '*Faults.*') are run
--brief  takes rows of the short form, which replace none of a long one

| tests of    | run                                                                     |
|-------------|-------------------------------------------------------------------------|
| ALONE       | at the end, one after the other, next to none but those of WAITING:     |
|             | their bounds are milliseconds                                           |
| WAITING     | all at once from the beginning: they wait nearly all the time           |
| other suites| as many at once as there are processors                                 |

Each test is a process. If this is root, it has a network of its own, so that no other test takes
the port of a daemon that is down. A line on stderr says how each one ended and how long it took,
and the output of one that failed comes after it. Exits with 1 if one failed or a row could not be
taken.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

import fault_matrix

ALONE = ("KillFaults.*", "ResplitFaults.*", "FollowFaults.*", "ClockFaults.*")
WAITING = ("SilenceFaults.*",)
# Begun first, because they take longest.
LONG = ("LinkFaults.Changed*", "LeaseFaults.AKilled*", "DiskFaults.*")
LIMIT_SECONDS = 3600
OWN_NETWORK = ["unshare", "--net", "/bin/sh", "-c", 'ip link set lo up && exec "$@"', "test"]


def is_any_of(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def tests_of(program, chosen):
    """Returns the names of a program's tests that the filter picks."""
    listed = subprocess.run([program, f"--gtest_filter={chosen}", "--gtest_list_tests"],
                            capture_output=True, text=True, check=True).stdout
    names, suite = [], ""
    for line in listed.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + word)
        elif word.endswith("."):
            suite = word
    return [name for name in names if "DISABLED_" not in name]


def say(text):
    print(f"test-faults: {text}", file=sys.stderr, flush=True)


def time_text(seconds):
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"


class Test:
    """One test that runs in a process group of its own."""

    def __init__(self, program, name, folder, own_network):
        self.name = name
        self.rows = folder / re.sub(r"[^\w.]", "-", name)
        self.rows.mkdir()
        # Read while it is written, and after.
        self.output = open(self.rows / "output", "w+", encoding="utf-8", errors="replace")
        self.began = time.monotonic()
        self.timed_out = False
        command = [program, f"--gtest_filter={name}", "--gtest_color=no"]
        environment = {**os.environ, "PARETO_FAULT_FIGURES": str(self.rows)}
        self.process = subprocess.Popen(
            (OWN_NETWORK if own_network else []) + command, env=environment, stdout=self.output,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        self.handle = os.pidfd_open(self.process.pid)

    def seconds(self):
        return time.monotonic() - self.began

    def kill(self):
        """Ends it with all that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def end(self):
        """Returns how it ended (passed, failed, skipped: …) and its output."""
        self.process.wait()
        os.close(self.handle)
        self.output.seek(0)
        text = self.output.read()
        self.output.close()
        (self.rows / "output").unlink()
        if self.timed_out:
            return "failed: it took too long", text
        if self.process.returncode != 0:
            return "failed", text
        if "[  PASSED  ] 0 tests" in text or "[  SKIPPED ]" in text:
            # The reason stands in the line before.
            reason = re.search(r"Skipped\n(.*)\n", text)
            return "skipped" + (f": {reason[1].strip()}" if reason else ""), text
        return "passed", text


class Runs:
    """All tests, those that are left and those at work."""

    def __init__(self, asked, folder):
        self.asked = asked
        self.folder = folder
        self.own_network = os.geteuid() == 0
        self.left = [(program, name) for program in asked.programs
                     for name in tests_of(program, asked.filter)]
        self.left.sort(key=lambda one: not is_any_of(one[1], LONG))
        self.at_work = []
        self.failed = 0
        self.ended = 0
        self.rows = 0
        self.selector = selectors.DefaultSelector()

    def may_start(self, name):
        if is_any_of(name, WAITING):
            return True
        working = sum(not is_any_of(one.name, WAITING) for one in self.at_work)
        if is_any_of(name, ALONE):
            return working == 0 and all(is_any_of(other, ALONE) for _, other in self.left)
        return working < (os.cpu_count() or 1)

    def start_some(self):
        for one in list(self.left):
            if not self.may_start(one[1]):
                continue
            self.left.remove(one)
            test = Test(one[0], one[1], self.folder, self.own_network)
            self.at_work.append(test)
            self.selector.register(test.handle, selectors.EVENT_READ, test)

    def wait_for_some(self):
        for key, _ in self.selector.select(timeout=10):
            self.take_end(key.data)
        for test in self.at_work:
            if test.seconds() > LIMIT_SECONDS and not test.timed_out:
                test.timed_out = True
                test.kill()

    def take_end(self, test):
        self.selector.unregister(test.handle)
        self.at_work.remove(test)
        self.ended += 1
        outcome, text = test.end()
        self.rows += len(list(test.rows.glob("*.json")))
        wrong = fault_matrix.update(self.asked.root, test.rows, self.asked.brief)
        self.failed += outcome.startswith("failed") or bool(wrong)
        rest = f"; {len(self.at_work)} at work, {len(self.left)} left"
        say(f"{test.name} {outcome}, {time_text(test.seconds())}{rest}")
        for one in wrong:
            say(one)
        if outcome.startswith("failed"):
            print(text, file=sys.stderr, flush=True)

    def run(self):
        """Returns whether all held."""
        if not self.left:
            say(f"no test is named {self.asked.filter}")
            return False
        try:
            while self.left or self.at_work:
                self.start_some()
                self.wait_for_some()
        finally:
            for test in self.at_work:
                test.kill()
        if self.rows == 0:
            say("no test of that name left a row")
        return self.failed == 0 and self.rows > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="*Faults.*")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    asked = parser.parse_args()
    began = time.monotonic()
    # What is at work is ended then too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="pareto-faults.") as folder:
        runs = Runs(asked, pathlib.Path(folder))
        try:
            held = runs.run()
        except KeyboardInterrupt:
            say(f"stopped; the rows of {runs.ended} tests are kept")
            return 130
    say(f"{runs.ended - runs.failed} passed or skipped, {runs.failed} failed, "
        f"{time_text(time.monotonic() - began)}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
