#!/usr/bin/env python3
"""Writes models that need data of a kind, the data, and what Python makes of them.

Usage: make_inputs.py FOLDER"""

import sys
import zipfile

import numpy
import torch
from torch import nn

folder = sys.argv[1]
torch.manual_seed(1)


class Lengths(nn.Module):
    """Integers that may not be zero, and have to descend."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 8)
        self.recur = nn.GRU(8, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed(tokens), lengths, batch_first=True, enforce_sorted=True)
        states = nn.utils.rnn.pad_packed_sequence(
            self.recur(packed)[0], batch_first=True, total_length=7)[0]
        return self.head(torch.relu(states))


class Fixed(nn.Module):
    """Exported for a batch of 8."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)).view(8, -1))


class FourOrOne(nn.Module):
    """Runs at batch 4, and by broadcasting at 1."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(6, 6)

    def forward(self, x):
        return torch.relu(self.line(x) + torch.zeros(4, 6))


class Recurrent(nn.Module):
    """Takes the batch as the first dimension of one input and the second of the other. Returns two
    tensors."""

    def __init__(self):
        super().__init__()
        self.recur = nn.GRU(6, 8, 2, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x, h):
        y, h = self.recur(x, h)
        return self.head(torch.relu(y)), h


class Emptied(nn.Module):
    """A zero leaves nothing of the request."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x, n):
        return torch.relu(self.line(x[:, : int(n.max())]))


class Labels(nn.Module):
    """Knows one negative number."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        known = torch.where(x == -100, torch.zeros_like(x), x)
        return self.head(torch.relu(self.embed(known)))


class Negated(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(torch.neg(self.line(x)))


def save(name, module, example, *inputs):
    module = module.eval()
    made = torch.jit.script(module) if example is None else torch.jit.trace(module, example)
    made.save(f"{folder}/{name}.pt")
    with torch.no_grad():
        outputs = made(*[torch.from_numpy(one) for one in inputs])
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for i, one in enumerate(inputs):
        numpy.save(f"{folder}/{name}_{i}.npy", one)
    for i, one in enumerate(outputs):
        numpy.save(f"{folder}/{name}_expected{'' if len(outputs) == 1 else '.' + str(i)}.npy", one.numpy())


def floats(*shape):
    return numpy.random.RandomState(1).standard_normal(shape).astype("float32")


class Together(torch.nn.Module):
    """Mixes the samples of a batch."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 6)

    def forward(self, x):
        y = self.first(x)
        return torch.softmax(y @ y.t(), 1) @ y


class Counting(torch.nn.Module):
    """Uses the size of the batch as a number."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 6)

    def forward(self, x):
        y = self.first(x)
        return y * x.size(0) if x.size(0) > 4 else -y


save("lengths", Lengths(), None, numpy.random.RandomState(1).randint(1, 40, (3, 7)), numpy.array([7, 5, 4]))
save("fixed8", Fixed(), torch.zeros(8, 6), floats(8, 6))
save("four_or_one", FourOrOne(), torch.zeros(4, 6), floats(4, 6))
save("recurrent", Recurrent(), None, floats(3, 5, 6), floats(2, 3, 8))
save("together", Together(), None, floats(8, 6))
save("counting", Counting(), None, floats(8, 6))
save("emptied", Emptied(), None, floats(1, 3, 4), numpy.array([2]))
save("labels", Labels(), None, numpy.array([[-100, 39, 3], [7, -100, 20]]))
# One that needs an operator of a library, which need not be there.
torch.jit.script(Negated().eval()).save(f"{folder}/negated.pt")
with zipfile.ZipFile(f"{folder}/negated.pt") as old, zipfile.ZipFile(f"{folder}/tripled.pt", "w") as new:
    for part in old.infolist():
        content = old.read(part)
        if part.filename.endswith(".py"):
            content = content.replace(b"torch.neg(", b"ops.pareto_test.triple(")
        new.writestr(part, content)
torch.save(Fixed().state_dict(), f"{folder}/weights.pt")
torch.save(Fixed(), f"{folder}/module.pt")
