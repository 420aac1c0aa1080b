#!/usr/bin/python3
"""Writes tests/e2e/FAULTS.md from the rows in tests/e2e/faults.

usage: fault_matrix.py [--check | --take FOLDER] [--root ROOT]

--take FOLDER  first takes the rows that tests left there (PARETO_FAULT_FIGURES), each with the date
               and this machine's processor. A row of the short form is refused: its cycles are few.
--check        writes nothing, and exits with 1 if FAULTS.md is not what the rows make.
"""

import argparse
import datetime
import json
import pathlib
import sys

HEAD = """# Faults

What Pareto Edge does about a fault, as its tests saw it. `./dev test-faults` tries each fault as
often as before a release, and writes this page from the figures. `./dev test` tries the same in
seconds, with fewer cycles. Figures of that are called brief. In a row in bold a device was not
found or not back, or an answer was lost, doubled, out of order or wrong. Times are those of a
machine that did other work too. Hold them against the bounds next to them.

| fault | expected | seen | cycles | measured by | when, on |
|---|---|---|---|---|---|
"""
KEYS = ("test", "fault", "expected", "cycles", "long", "held", "figures", "date", "processor")


def processor():
    cores, model = 0, ""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            key, _, value = line.partition(":")
            cores += key.strip() == "processor"
            if key.strip() == "model name":
                model = value.strip()
    return f"{model or 'unnamed'}, {cores} cores"


def replace(path, text):
    """Writes a file that is whole at any moment, also if this program is ended meanwhile."""
    beside = path.with_name(path.name + ".tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def take(folder, rows, brief):
    """Takes the rows of a folder into `rows`. Those of short forms are taken if `brief`, and
    replace none of a long one. Returns what is wrong with them."""
    wrong = []
    rows.mkdir(exist_ok=True)
    for file in sorted(folder.glob("*.json")):
        row = json.loads(file.read_text(encoding="utf-8"))
        target = rows / file.name
        if not row["long"]:
            if not brief:
                wrong.append(f"{file}: {row['test']} ran in its short form: "
                             "set PARETO_LONG_FAULTS=1, or take it with --brief")
                continue
            if target.exists() and json.loads(target.read_text(encoding="utf-8"))["long"]:
                continue
        row["date"] = datetime.date.today().isoformat()
        row["processor"] = processor()
        ordered = {key: row[key] for key in KEYS}
        replace(target, json.dumps(ordered, indent=2, ensure_ascii=False) + "\n")
    return wrong


def number(value):
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", " ")
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def seen(figures):
    """Joins figures: "detected, median 12 ms; lost 0"."""
    texts = [f"{one['name']} {number(one['value'])} {one['unit']}".rstrip() for one in figures]
    return "; ".join(texts)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def page(rows):
    text = HEAD
    for file in sorted(rows.glob("*.json")):
        row = json.loads(file.read_text(encoding="utf-8"))
        missing = [key for key in KEYS if key not in row]
        if missing:
            sys.exit(f"{file}: lacks {', '.join(missing)}")
        fault = cell(row["fault"])
        cells = [fault if row["held"] else f"**{fault}**", cell(row["expected"]),
                 cell(seen(row["figures"])),
                 number(row["cycles"]) + ("" if row["long"] else ", brief"), f"`{row['test']}`",
                 cell(f"{row['date']}, {row['processor']}")]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def update(root, folder, brief=False):
    """Takes the rows of a folder if one is named, and writes the page. Returns what is wrong with
    them."""
    wrong = take(folder, root / "faults", brief) if folder else []
    replace(root / "FAULTS.md", page(root / "faults"))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--take", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    rows, target = asked.root / "faults", asked.root / "FAULTS.md"
    wrong = []
    if not asked.check:
        wrong = update(asked.root, asked.take, asked.brief)
    elif not target.exists() or target.read_text(encoding="utf-8") != page(rows):
        wrong.append(f"{target}: is not what the rows make: run tests/e2e/fault_matrix.py")
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
