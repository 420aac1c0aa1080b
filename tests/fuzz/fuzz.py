#!/usr/bin/python3
"""Gives each fuzzer its share of processor time, and keeps count of what each has had.

usage: fuzz.py [MINUTES] [--only NAME…] [--fresh]

Each fuzzer in build/fuzz/bin runs in turns until it has had MINUTES (10) of processor time, and so
does build/release/bin/operators_fuzz, which calls LibTorch. As many run at once as there are
processors, at the lowest priority. What each has had stands in tests/fuzz/fuzzed.json: a run that
is broken off goes on from there; --fresh begins again, as after a change to what a fuzzer reads.
Inputs that reach new code are kept in build/fuzz/corpus.

Exits with 1 if an input was found that ends a fuzzer: it lies in build/fuzz/findings. Repeat it
with NAME_fuzz FILE, mend the parser, and add the file to tests/fuzz/corpus/NAME. One of operators
says a call: put a check before the operator, and test it (runtime/torch/operator_checks.h).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "fuzz"
PROGRAMS = [BUILD / "bin", BUILD.parent / "release" / "bin"]
RECORD = HERE / "fuzzed.json"
TURN_SECONDS = 60
SLOW_SECONDS = 10
LIMITS = ["-timeout=20", "-rss_limit_mb=2048", "-max_len=65536"]


def programs():
    """Returns each fuzzer's program by its name."""
    return {path.name.removesuffix("_fuzz"): path
            for folder in PROGRAMS for path in sorted(folder.glob("*_fuzz"))}


def read_record():
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def write_record(record):
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    beside = RECORD.with_suffix(".tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(RECORD)


def row(record):
    """Returns the row of the table of faults (tests/e2e/FAULTS.md)."""
    seconds = sum(one["cpu_seconds"] for one in record.values())
    findings = sum(one["findings"] for one in record.values())
    least = min(one["cpu_seconds"] for one in record.values())
    return {"test": "fuzz.py", "fault": "any bytes to everything that reads a peer's or a file's",
            "expected": "nothing ends or hangs a reader; 4 hours of processor time in all",
            "cycles": sum(one["runs"] for one in record.values()),
            "long": seconds >= 4 * 3600, "held": findings == 0,
            "figures": [{"name": "fuzzers", "value": len(record), "unit": ""},
                        {"name": "processor time", "value": round(seconds / 3600, 2), "unit": "h"},
                        {"name": "least of one", "value": round(least / 60, 1), "unit": "min"},
                        {"name": "findings", "value": findings, "unit": ""}]}


def is_finding(name, path):
    """Repeats an input that was slow alone. Returns whether it ends the fuzzer or takes
    SLOW_SECONDS of processor time: on a busy machine every input may seem slow. All other inputs
    are findings."""
    if not path.name.startswith((f"{name}-slow-unit-", f"{name}-timeout-")):
        return True
    most = (2 * SLOW_SECONDS, 2 * SLOW_SECONDS)
    child = subprocess.Popen([programs()[name], path], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, most))
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0 or used.ru_utime + used.ru_stime >= SLOW_SECONDS:
        return True
    path.unlink()
    return False


def turn(name, seconds):
    """Lets a fuzzer run. Returns its processor time, its runs, and what it found."""
    corpus, findings = BUILD / "corpus" / name, BUILD / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    before = set(findings.glob(f"{name}-*"))
    program = [programs()[name], corpus, HERE / "corpus" / name,
               f"-max_total_time={max(5, int(seconds))}", "-print_final_stats=1", *LIMITS,
               f"-artifact_prefix={findings}/{name}-"]
    log = BUILD / f"{name}.log"
    with open(log, "w", encoding="utf-8") as out:
        child = subprocess.Popen(program, stdout=out, stderr=out, preexec_fn=lambda: os.nice(19))
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    said = log.read_text(encoding="utf-8", errors="replace")
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
    found = sorted(set(findings.glob(f"{name}-*")) - before)
    if child.returncode != 0 and not found:
        sys.exit(f"{name}_fuzz ended with {child.returncode}: see {log}")
    found = [path for path in found if is_finding(name, path)]
    return used.ru_utime + used.ru_stime, int(runs.group(1)) if runs else 0, found


class Fuzzing:
    def __init__(self, minutes, names, record):
        self.seconds = minutes * 60
        self.names = names
        self.record = record
        self.lock = threading.Lock()
        self.found = []

    def had(self, name):
        return self.record.get(name, {}).get("cpu_seconds", 0)

    def next(self, running):
        """Returns the fuzzer that has had least, of those that run in no other turn."""
        waiting = [name for name in self.names
                   if name not in running and self.had(name) < self.seconds]
        return min(waiting, key=self.had, default=None)

    def take_turns(self, running):
        while True:
            with self.lock:
                name = self.next(running)
                if name is None:
                    return
                running.add(name)
                left = self.seconds - self.had(name)
            used, runs, found = turn(name, min(TURN_SECONDS, left + 1))
            with self.lock:
                running.remove(name)
                one = self.record.setdefault(name, {"cpu_seconds": 0, "runs": 0, "findings": 0})
                one["cpu_seconds"] = round(one["cpu_seconds"] + used, 1)
                one["runs"] += runs
                one["findings"] += len(found)
                write_record(self.record)
                self.found += found
                self.show(name, found)

    def show(self, name, found):
        had = sum(min(self.had(one), self.seconds) for one in self.names)
        print(f"fuzz: {had / 60:.0f} of {len(self.names) * self.seconds / 60:.0f} min; {name} has "
              f"had {self.had(name) / 60:.1f}" + "".join(f"; FOUND {path}" for path in found),
              file=sys.stderr, flush=True)

    def run(self):
        running = set()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in [pool.submit(self.take_turns, running) for _ in range(os.cpu_count())]:
                done.result()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0],
                                     description=__doc__.split("\n")[0])
    parser.add_argument("minutes", nargs="?", type=float, default=10)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--rows", type=pathlib.Path, metavar="FOLDER",
                        help="writes the row of FAULTS.md there")
    asked = parser.parse_args()
    names = asked.only or sorted(programs())
    unknown = sorted(set(names) - set(programs()))
    if unknown or not names:
        sys.exit(f"fuzz.py: no fuzzer {', '.join(unknown) or 'is built'} in {' or '.join(map(str, PROGRAMS))}")
    record = read_record()
    if asked.fresh:
        for name in names:
            record.pop(name, None)
    began = time.monotonic()
    fuzzing = Fuzzing(asked.minutes, names, record)
    fuzzing.run()
    if asked.rows:
        asked.rows.mkdir(parents=True, exist_ok=True)
        (asked.rows / "fuzz.json").write_text(json.dumps(row(record), indent=2) + "\n",
                                              encoding="utf-8")
    print(f"fuzz: {len(names)} fuzzers have had {asked.minutes:g} min each, in "
          f"{(time.monotonic() - began) / 60:.0f} min; {len(fuzzing.found)} findings")
    return 1 if fuzzing.found else 0


if __name__ == "__main__":
    sys.exit(main())
