#!/usr/bin/python3
"""Traces a model of torchvision for `./dev bench`: usage: trace_model.py NAME FILE.pt"""

import sys

import torch
import torchvision.models as zoo

name, path = sys.argv[1:]
torch.manual_seed(0)
with torch.no_grad():
    torch.jit.trace(getattr(zoo, name)().eval(), torch.randn(1, 3, 224, 224), check_trace=False).save(path)
