#!/usr/bin/env python3
"""Of the source files named on stdin, prints those that are compiled without LibTorch and that clang-tidy can thus read.

How they are compiled is written to FOLDER/compile_commands.json, without precompiled headers: those are g++'s.

usage: tidy_files.py compile_commands.json FOLDER < names
"""

import json
import os
import re
import sys

commands = {}
for entry in json.load(open(sys.argv[1])):
    if "torch_pch" not in entry["command"] and "/torch" not in entry["command"]:
        entry["command"] = re.sub(r"-Winvalid-pch -include \S+ ", "", entry["command"])
        commands[os.path.relpath(entry["file"])] = entry

os.makedirs(sys.argv[2], exist_ok=True)
with open(os.path.join(sys.argv[2], "compile_commands.json"), "w") as database:
    json.dump(list(commands.values()), database)

for name in sys.stdin.read().split():
    if name in commands:
        print(name)
