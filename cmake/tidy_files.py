#!/usr/bin/env python3
"""Of the source files named on stdin, prints those that are compiled without LibTorch and that clang-tidy can thus read.

usage: tidy_files.py compile_commands.json < names
"""

import json
import os
import sys

commands = {}
for entry in json.load(open(sys.argv[1])):
    commands[os.path.relpath(entry["file"])] = entry["command"]

for name in sys.stdin.read().split():
    command = commands.get(name)
    if command and "torch_pch" not in command and "/torch" not in command:
        print(name)
