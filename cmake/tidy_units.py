#!/usr/bin/env python3
"""Prints the translation units that hold the source files named on stdin and see no LibTorch:
clang-tidy can read them. A unit holds two dozen sources, whose headers are read once.

Their commands are written to FOLDER/compile_commands.json, without precompiled headers: those are
g++'s.

usage: tidy_units.py BUILT FOLDER < names
"""

import json
import os
import pathlib
import re
import sys

built, folder = map(pathlib.Path, sys.argv[1:])
wanted = {os.path.abspath(name) for name in sys.stdin.read().split()}


def sources_of(unit):
    if "/Unity/" not in unit:
        return {unit}
    return set(re.findall(r'^#include "(.*)"', pathlib.Path(unit).read_text(encoding="utf-8"), re.M))


commands = []
for entry in json.loads((built / "compile_commands.json").read_text(encoding="utf-8")):
    if "torch_pch" in entry["command"] or "/torch" in entry["command"]:
        continue
    if wanted & sources_of(entry["file"]):
        entry["command"] = re.sub(r"-Winvalid-pch -include \S+ ", "", entry["command"])
        commands.append(entry)

folder.mkdir(parents=True, exist_ok=True)
(folder / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
for entry in commands:
    print(entry["file"])
