#!/usr/bin/env python3
"""Writes a model that a lossy codec breaks, and samples with the model's own answers as labels.

usage: make_fragile.py FOLDER

fragile.pt                 takes 16 numbers, tells 4 classes apart; small differences of what leaves
                           `first` become large ones in `second`
inputs.npy, labels.npy     40 samples, all of which it answers rightly
"""

import sys

import numpy
import torch

folder = sys.argv[1]
torch.manual_seed(3)
torch.set_num_threads(1)


class Second(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4096, 4)

    def forward(self, x):
        return self.head(torch.sin(500.0 * x))


class Fragile(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 4096)
        self.second = Second()

    def forward(self, x):
        return self.second(self.first(x))


model = Fragile().eval()
inputs = torch.randn(40, 16)
with torch.no_grad():
    labels = model(inputs).argmax(1)
torch.jit.script(model).save(f"{folder}/fragile.pt")
numpy.save(f"{folder}/inputs.npy", inputs.numpy())
numpy.save(f"{folder}/labels.npy", labels.numpy().astype("int64"))
