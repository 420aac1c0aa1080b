#!/usr/bin/env python3
"""Prints those source files named on stdin that are compiled without LibTorch: clang-tidy can read
them.

Their commands are written to CONFIGURED/tidy/compile_commands.json, without precompiled headers:
those are g++'s. Generated files are taken from BUILT, because CONFIGURED was only configured.

usage: tidy_files.py CONFIGURED BUILT < names
"""

import json
import os
import re
import sys

configured, built = map(os.path.abspath, sys.argv[1:])
commands = {}
for entry in json.load(open(os.path.join(configured, "compile_commands.json"))):
    if "torch_pch" not in entry["command"] and "/torch" not in entry["command"]:
        entry["command"] = re.sub(r"-Winvalid-pch -include \S+ ", "", entry["command"]).replace(configured, built)
        entry["directory"] = built
        commands[os.path.relpath(entry["file"])] = entry

folder = os.path.join(configured, "tidy")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "compile_commands.json"), "w") as database:
    json.dump(list(commands.values()), database)

for name in sys.stdin.read().split():
    if name in commands:
        print(name)
