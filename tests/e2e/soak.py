#!/usr/bin/python3
"""Keeps a test bed busy with a fault every few seconds, and watches memory and descriptors.

usage: soak.py [MINUTES] [--every SECONDS] [--seed N] [--out FOLDER]

The load: a stream (deploy --on-loss wait), a run every 15 s, a small sweep every minute. The first
device is never killed, so that its memory shows a leak; the others are.

Leaves in FOLDER (build/soak): samples.csv (every 10 s), soak.svg, the stream's log, what each
command said, faults.yaml with its output, and the row for FAULTS.md. Exits with 1 if the stream's
history does not hold, a command crashed, or something leaks (LEAK_KIB_PER_HOUR, after WARM_UP).
"""

import argparse
import array
import csv
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import threading
import time

BIN = pathlib.Path(os.environ.get("PARETO_BIN", "build/release/bin")).resolve()
MODEL = ["--model", "squeezenet1_0", "--input-shape", "3x64x64", "--num-classes", "10"]
SPLIT = "after:features.3,percent:60"
DEVICES = ("steady", "second", "third")
LINKS = ("steady - second", "second - third")
SAMPLE_SECONDS = 10
REQUESTS_A_SECOND = 10
WARM_UP = 0.25  # share of the time
LEAK_KIB_PER_HOUR = 1024
LONG_MINUTES = 60
# Commands may find devices gone: done, failed, used wrongly, environment, in part.
ORDINARY_EXITS = range(5)


def write_npy(path, shape, seed):
    count = 1
    for size in shape:
        count *= size
    dice = random.Random(seed)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        array.array("f", (dice.random() for _ in range(count))).tofile(file)


def faults(seconds, every, seed):
    """Returns a plan with a fault every so often, that ends a little before the time is over."""
    dice = random.Random(seed)
    lines = [f"seed: {seed}", "faults:"]
    at = every
    while at < seconds - 2 * every:
        kind = dice.choice(["kill", "kill", "restart", "stop", "partition", "drop", "delay",
                            "corrupt", "swap-bytes", "truncate", "half-close"])
        lasts = "" if kind == "restart" else f", for: {dice.choice([300, 1000, 3000])}ms"
        if kind in ("kill", "restart"):
            place = f"device: {dice.choice(DEVICES[1:])}"
        elif kind == "stop":
            place = f"device: {dice.choice(DEVICES)}"
        else:
            place = f"link: {dice.choice(LINKS)}, direction: " + \
                dice.choice(["both", "forward", "backward"])
        more = {"drop": ", share: 5%", "delay": ", delay: 30ms", "corrupt": ", packets: 2",
                "swap-bytes": ", packets: 1"}.get(kind, "")
        lines.append(f"  - {{fault: {kind}, {place}, at: {at}s{lasts}{more}}}")
        at += every
    return "\n".join(lines) + "\n"


def memory_and_descriptors(process):
    """Returns KiB of its own memory and the number of its descriptors; None if it is gone."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as status:
            fields = dict(line.split(":", 1) for line in status)
        return int(fields["RssAnon"].split()[0]), len(os.listdir(f"/proc/{process}/fd"))
    except (OSError, KeyError):
        return None


def slope_per_hour(points):
    """Returns the slope of the least squares line through (seconds, value), an hour."""
    if len(points) < 3:
        return 0.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return 3600 * sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


class Soak:
    def __init__(self, asked):
        self.asked = asked
        self.seconds = asked.minutes * 60
        self.out = asked.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.name = f"soak-{os.getpid()}"
        self.bed = self.out / f"{self.name}.yaml"
        self.samples = []  # (seconds, who, process, KiB, descriptors)
        self.exits = {}  # (command, exit code): how often
        self.crashes = []
        self.over = threading.Event()
        self.children = []
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.out / "data"),
                            "XDG_CONFIG_HOME": str(self.out / "config")}

    def paretoctl(self, *arguments, **more):
        return subprocess.run([BIN / "paretoctl", *arguments], env=self.environment, text=True,
                              capture_output=True, check=False, **more)

    def must(self, *arguments):
        done = self.paretoctl(*arguments)
        if done.returncode != 0:
            sys.exit(f"paretoctl {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def start(self, name, *arguments, **more):
        with open(self.out / f"{name}.log", "w", encoding="utf-8") as log:
            child = subprocess.Popen([BIN / "paretoctl", *arguments], env=self.environment,
                                     stderr=log, **more)
        self.children.append(child)
        return child

    def count(self, command, done):
        key = (command, done.returncode)
        self.exits[key] = self.exits.get(key, 0) + 1
        if done.returncode != 0:
            (self.out / f"{command}-exit-{done.returncode}.log").write_text(done.stderr,
                                                                            encoding="utf-8")
        if done.returncode not in ORDINARY_EXITS:
            self.crashes.append(f"{command} ended with {done.returncode}: {done.stderr[-500:]}")

    def repeat(self, command, every, arguments):
        """Runs a command every `every` seconds until the time is over."""
        while not self.over.wait(every):
            try:
                self.count(command, self.paretoctl(command, *arguments, timeout=300))
            except subprocess.TimeoutExpired:
                self.crashes.append(f"{command} did not end within 300 s")

    def feed(self, pipe):
        """Writes requests at a steady pace. A stream that waits makes it wait."""
        number = 0
        try:
            while not self.over.wait(1 / REQUESTS_A_SECOND):
                pipe.write(f"{self.out}/f{number % 4}.npy\n".encode())
                pipe.flush()
                number += 1
            pipe.close()
        except OSError:
            pass

    def sample(self, start, stream):
        file = pathlib.Path("/run/pareto-testbeds") / self.name / "testbed.json"
        try:
            bed = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        watched = [("deploy", stream.pid), ("testbed", bed["process"])]
        watched += [(device["name"], device["process"]) for device in bed["devices"]]
        for who, process in watched:
            found = memory_and_descriptors(process)
            if found:
                self.samples.append((time.monotonic() - start, who, process, *found))

    def dead(self):
        """Returns the devices whose daemon is not there, although no fault lasts."""
        bed = json.loads(self.must("testbed", "status", self.name, "--json"))[0]
        return [device["name"] for device in bed["devices"]
                if memory_and_descriptors(device["process"]) is None]

    def prepare(self):
        devices = "\n".join(f"  - {{name: {name}}}" for name in DEVICES)
        self.bed.write_text(f"emulator: user\ndevices:\n{devices}\n", encoding="utf-8")
        for number in range(4):
            write_npy(self.out / f"f{number}.npy", (1, 3, 64, 64), number)
        (self.out / "faults.yaml").write_text(
            faults(self.seconds, self.asked.every, self.asked.seed), encoding="utf-8")
        self.must("testbed", "up", self.bed)
        where = ["--testbed", self.name]
        self.must("run", *MODEL, "--engine", "plain", "--split", SPLIT, "--transport", "tcp+grpc+tcp",
                  "--save-plan", self.out / "plan.json", *where)
        right = self.must("deploy", "--plan", self.out / "plan.json", "--json", "--output",
                          self.out / "right", *where,
                          *(self.out / f"f{number}.npy" for number in range(4)))
        (self.out / "right.jsonl").write_text(right, encoding="utf-8")
        return where

    def share(self, command):
        """Returns the flag by which a command measures next to others, if it asks for it."""
        return ["--share"] if "--share" in self.paretoctl(command, "--help").stdout else []

    def run(self):
        where = self.prepare()
        with open(self.out / "stream.jsonl", "wb") as log:
            stream = self.start("deploy", "deploy", "--plan", self.out / "plan.json", "--json",
                                "--output", self.out / "results", "--on-loss", "wait", "--retry",
                                "10min", *where, stdin=subprocess.PIPE, stdout=log)
        breaker = self.start("faults", "testbed", "fault", self.out / "faults.yaml", self.name,
                             stdout=subprocess.DEVNULL)
        sweep = [*MODEL, "--splits", "after:features.3", "--transport", "tcp", "--rounds", "1",
                 "--requests", "4", "--store", self.out / "results.db", *where, *self.share("sweep")]
        loads = [threading.Thread(target=self.feed, args=[stream.stdin]),
                 threading.Thread(target=self.repeat, args=[
                     "run", 15, [*MODEL, "--split", "after:features.3", "--transport", "tcp",
                                 "--requests", "3", *where]]),
                 threading.Thread(target=self.repeat, args=["sweep", 60, sweep])]
        start = time.monotonic()
        for load in loads:
            load.start()
        while time.monotonic() - start < self.seconds and stream.poll() is None:
            self.sample(start, stream)
            if sys.stderr.isatty():
                left = self.seconds - (time.monotonic() - start)
                print(f"\rsoak: {left / 60:.0f} min left ", end="", file=sys.stderr)
            time.sleep(SAMPLE_SECONDS)
        self.over.set()
        for load in loads:
            load.join(timeout=330)
        if breaker.poll() is None:
            breaker.send_signal(signal.SIGINT)
        breaker.wait(timeout=180)
        self.crashes += [f"{name} ended by itself" for name in self.dead()]
        # It answers what it took, then ends.
        try:
            code = stream.wait(timeout=300)
        except subprocess.TimeoutExpired:
            code = "none within 300 s of the end"
        if code != 0:
            self.crashes.append(f"deploy ended with {code}")
        done = self.paretoctl("history", self.out / "stream.jsonl", "--expected",
                              self.out / "right.jsonl", "--json")
        return json.loads(done.stdout) if done.stdout else {"holds": False, "says": done.stderr}

    def end(self):
        self.over.set()
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        self.paretoctl("testbed", "down", self.name)

    def lasting(self):
        """Returns processes that were there after the warm-up and at the end, and their points."""
        warm = self.seconds * WARM_UP
        last = max((sample[0] for sample in self.samples), default=0)
        found = {}
        for seconds, who, process, memory, descriptors in self.samples:
            found.setdefault((who, process), []).append((seconds, memory, descriptors))
        return {key[0]: [point for point in points if point[0] >= warm]
                for key, points in found.items()
                if points[0][0] <= warm and points[-1][0] > last - 3 * SAMPLE_SECONDS}

    def leaks(self):
        """Returns for each lasting process KiB of memory and descriptors an hour."""
        return {who: (slope_per_hour([(x, memory) for x, memory, _ in points]),
                      slope_per_hour([(x, files) for x, _, files in points]))
                for who, points in self.lasting().items()}

    def write_samples(self):
        with open(self.out / "samples.csv", "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["seconds", "who", "process", "memory_kib", "descriptors"])
            for seconds, *others in self.samples:
                table.writerow([f"{seconds:.1f}", *others])

    def draw(self):
        """Draws memory and descriptors over time, a line for each process."""
        width, height, left = 900, 260, 70
        colours = ["#1b6ca8", "#c8553d", "#588157", "#8d5a97", "#b08900"]
        names = sorted({sample[1] for sample in self.samples})
        last = max(sample[0] for sample in self.samples) or 1
        text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {2 * height + 40}" '
                'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" '
                'fill="white"/>\n')
        for panel, (title, column, scale) in enumerate(
                [("memory, MiB", 3, 1024), ("descriptors", 4, 1)]):
            top = panel * height + 30
            most = max(sample[column] for sample in self.samples) / scale * 1.1
            text += f'<text x="{left}" y="{top - 8}">{title}</text>\n'
            for step in range(5):
                y = top + (height - 60) * (1 - step / 4)
                text += (f'<line x1="{left}" x2="{width - 20}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                         f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">'
                         f"{most * step / 4:.0f}</text>\n")
            for name, colour in zip(names, colours * len(names)):
                points = " ".join(
                    f"{left + sample[0] / last * (width - left - 20):.1f},"
                    f"{top + (height - 60) * (1 - sample[column] / scale / most):.1f}"
                    for sample in self.samples if sample[1] == name)
                text += f'<polyline fill="none" stroke="{colour}" points="{points}"/>\n'
            text += f'<text x="{width - 20}" y="{top + height - 45}" text-anchor="end">' \
                    f"{last / 60:.0f} min</text>\n"
        for index, (name, colour) in enumerate(zip(names, colours * len(names))):
            text += (f'<text x="{left + 120 * index}" y="{2 * height + 20}" fill="{colour}">'
                     f"{name}</text>\n")
        (self.out / "soak.svg").write_text(text + "</svg>\n", encoding="utf-8")

    def row(self, verdict, held):
        made = (self.out / "faults.log").read_text(encoding="utf-8").splitlines()
        lost = (self.out / "deploy.log").read_text(encoding="utf-8").count("the pipeline is lost")
        leaks = self.leaks()
        figures = [("growth of memory, largest", max((one[0] for one in leaks.values()), default=0)
                    / 1024, "MiB/h"),
                   ("growth of descriptors, largest",
                    max((one[1] for one in leaks.values()), default=0), "an hour"),
                   ("losses of the stream's pipeline", lost, "")]
        figures += [(name, verdict.get(name, 0), "")
                    for name in ("answered", "failed", "lost", "duplicated", "reordered", "wrong")]
        planned = (self.out / "faults.yaml").read_text(encoding="utf-8").count("fault:")
        return {"test": "soak.py", "fault": f"{self.asked.minutes:g} min of mixed load (a stream, "
                f"runs, sweeps), a fault every {self.asked.every} s",
                "expected": "the stream's history holds; memory grows ≤ 1 MiB/h after the warm-up, "
                            "descriptors stay", "cycles": planned,
                "long": self.asked.minutes >= LONG_MINUTES, "held": held,
                "figures": [{"name": name, "value": round(float(value), 3), "unit": unit}
                            for name, value, unit in figures]}, len(made)

    def report(self, verdict):
        """Prints what was found, and returns the exit code."""
        self.write_samples()
        if self.samples:
            self.draw()
        wrong = list(self.crashes)
        if not verdict.get("holds"):
            wrong.append(f"the stream's history does not hold: {verdict}")
        for who, (memory, descriptors) in sorted(self.leaks().items()):
            print(f"{who:8}  memory {memory / 1024:+.2f} MiB/h, descriptors {descriptors:+.1f}/h")
            # A few minutes say nothing about an hour.
            if self.asked.minutes < LONG_MINUTES:
                continue
            if memory > LEAK_KIB_PER_HOUR:
                wrong.append(f"{who}: memory grows by {memory / 1024:.2f} MiB/h")
            if descriptors > 1:
                wrong.append(f"{who}: {descriptors:.1f} descriptors more an hour")
        for (command, code), often in sorted(self.exits.items()):
            print(f"{command}: {often} × exit {code}")
        print(f"stream: {verdict}")
        row, lines = self.row(verdict, not wrong)
        print(f"faults: {lines} lines in {self.out / 'faults.log'}")
        rows = self.out / "rows"
        rows.mkdir(exist_ok=True)
        (rows / "soak.json").write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n",
                                        encoding="utf-8")
        for one in wrong:
            print(f"soak: {one}", file=sys.stderr)
        return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float, nargs="?", default=LONG_MINUTES)
    parser.add_argument("--every", type=int, default=10, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/soak"))
    soak = Soak(parser.parse_args())
    try:
        verdict = soak.run()
    finally:
        soak.end()
    return soak.report(verdict)


if __name__ == "__main__":
    sys.exit(main())
