#!/usr/bin/env python3
"""Saves small models of the kinds that people write into the folder given.

NAME.pt is the model. NAME.io.pt holds inputs (in0, in1 …) and outputs in Python (out0, out1 …).
"""

import sys
from collections import OrderedDict
from typing import Dict, List, Tuple

import torch
import torch.ao.quantization
from torch import nn
from torch.nn import functional as F

folder = sys.argv[1]
torch.manual_seed(5)


class Values(nn.Module):
    def __init__(self, tensors: Dict[str, torch.Tensor]):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self):
        return 0


def save(name, module, *inputs, outputs=True):
    module.save(f"{folder}/{name}.pt")
    if not outputs:
        return
    module = torch.jit.load(f"{folder}/{name}.pt").eval()
    results = module(*[x.clone() for x in inputs])
    if isinstance(results, torch.Tensor):
        results = (results,)
    elif isinstance(results, dict):
        results = tuple(results.values())
    tensors = {f"in{i}": x for i, x in enumerate(inputs)}
    tensors.update({f"out{i}": x for i, x in enumerate(results)})
    torch.jit.script(Values(tensors)).save(f"{folder}/{name}.io.pt")


def script(name, module, *inputs, outputs=True):
    save(name, torch.jit.script(module.eval()), *inputs, outputs=outputs)


# Numbers of Python in a trace.


class Pixels(nn.Module):
    """Bytes are scaled and shifted; masks and ramps of integers are multiplied and divided."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)

    def forward(self, pixels):
        x = self.conv((pixels - 3) / 127.5 - 1.0)
        mask = x > 0.1
        ramp = torch.arange(x.shape[3]) / 7
        return x * (mask * 2.5) + ramp, pixels * 0.5, mask.sum() / 3


pixels = torch.randint(0, 256, (2, 2, 6, 6), dtype=torch.uint8)
save("numbers", torch.jit.trace(Pixels().eval(), pixels), pixels)


class Precise(nn.Module):
    def forward(self, x):
        return (x * 0.1 + 3).relu() / 3.0


doubles = torch.randn(2, 4, dtype=torch.float64)
save("doubles", torch.jit.trace(Precise(), doubles), doubles)

# Dicts.


class Backbone(nn.ModuleDict):
    """Collects what some of its layers give, like torchvision's IntermediateLayerGetter."""

    def __init__(self):
        super().__init__(OrderedDict(stem=nn.Linear(6, 6), middle=nn.Linear(6, 6), end=nn.Linear(6, 6)))
        self.wanted: Dict[str, str] = {"stem": "low", "end": "high"}

    def forward(self, x):
        out = OrderedDict()
        for name, layer in self.items():
            x = torch.relu(layer(x))
            if name in self.wanted:
                out[self.wanted[name]] = x
        return out


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.low = nn.Linear(6, 3)
        self.high = nn.Linear(6, 3)

    def forward(self, x) -> Dict[str, torch.Tensor]:
        features = self.backbone(x)
        result: Dict[str, torch.Tensor] = OrderedDict()
        result["out"] = self.low(features["low"]) * torch.sigmoid(self.high(features["high"]))
        return result


script("segmenter", Segmenter(), torch.randn(2, 6))


class Pyramid(nn.Module):
    """Takes a dict of features apart and puts one together, like a feature pyramid."""

    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.inner = nn.ModuleList([nn.Linear(6, 4), nn.Linear(6, 4)])

    def forward(self, x):
        features = self.backbone(x)
        names = list(features.keys())
        values = list(features.values())
        last = self.inner[1](values[-1])
        results = [last]
        results.insert(0, self.inner[0](values[0]) + torch.tanh(last))
        out = OrderedDict([(k, v) for k, v in zip(names, results)])
        total = torch.zeros_like(last)
        for name, value in out.items():
            if name != "none":
                total = total + value
        if "missing" in out:
            total = total * 0
        return total * len(out)


script("pyramid", Pyramid(), torch.randn(2, 6))


class Unsure(nn.Module):
    """Which entry is written last follows from the data."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        d: Dict[str, torch.Tensor] = {"y": x}
        y = torch.relu(self.a(x))
        d["y"] = y
        if bool((x.sum() > 1000).item()):
            d["y"] = x
        return torch.tanh(d["y"]) + y


script("unsure", Unsure(), torch.randn(2, 4))

# Forks.


def twice(x, layer: torch.Tensor):
    return torch.tanh(x @ layer) * 2


class Forks(nn.Module):
    """Forks a submodule, functions in a list, and one that forks."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def branch(self, x):
        inner = torch.jit.fork(self.b, x)
        return torch.relu(torch.jit.wait(inner))

    def forward(self, x):
        futures: List[torch.jit.Future[torch.Tensor]] = []
        for i in range(3):
            futures.append(torch.jit.fork(twice, x + i, self.a.weight))
        one = torch.jit.fork(self.branch, x)
        y = self.a(x)
        for future in futures:
            y = y + torch.jit.wait(future)
        return y * torch.jit.wait(one)


script("forks", Forks(), torch.randn(2, 4))

# Objects of TorchScript classes.


@torch.jit.script
class Masked:
    def __init__(self, tensor: torch.Tensor, mask: torch.Tensor):
        self.tensor = tensor
        self.mask = mask
        self.steps = 0

    def filled(self) -> torch.Tensor:
        return self.tensor * self.mask

    def step(self, more: torch.Tensor):
        self.tensor = torch.tanh(self.tensor + more)
        self.steps += 1


@torch.jit.script
class Outer:
    def __init__(self, inner: Masked):
        self.inner = inner


class Objects(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def make(self, x):
        y = torch.relu(self.a(x))
        if bool((y.sum() > 2).item()):
            made = Masked(y, x > 0)
        else:
            made = Masked(-y, x < 0)
        return made

    def forward(self, x):
        object = Outer(self.make(x)).inner
        for i in range(2):
            object.step(self.b(x))
        if bool((x.sum() > 0).item()):
            object.step(x)
        while object.steps < 5:
            object.step(x)
        return object.filled() + object.steps


script("objects", Objects(), torch.randn(2, 4))


class Listed(nn.Module):
    """The length of a list of objects is known here, and follows from the data in the next one."""

    def forward(self, x):
        kept: List[Masked] = [Masked(x, x > 0), Masked(x, x < 0)]
        total = x
        for one in kept:
            total = total + one.filled()
        return total


script("listed", Listed(), torch.randn(2, 4))


class Unlisted(nn.Module):
    def forward(self, x):
        kept: List[Masked] = []
        while len(kept) < 3 or bool((x.sum() > 1000 * len(kept)).item()):
            kept.append(Masked(x, x > len(kept)))
        total = x
        for one in kept:
            total = total + one.filled()
        return total


script("unlisted", Unlisted(), torch.randn(2, 4), outputs=False)


class Carried(nn.Module):
    """A loop whose length follows from the data makes an object in each step, sometimes two."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        state = Masked(torch.relu(self.a(x)), x > 0)
        steps = 0
        while steps < 3 or bool((x.sum() > 1000 * steps).item()):
            state = Masked(torch.tanh(state.filled() + x), torch.logical_not(state.mask))
            if bool((state.tensor.sum() > 1).item()):
                state = Masked(-state.tensor, state.mask)
            state.steps += steps
            steps += 1
        return torch.tanh(self.a(state.tensor)) + state.filled() + state.steps


script("carried", Carried(), torch.randn(2, 4))


class Exchanged(nn.Module):
    """Two objects take each other's place in every step."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        one = Masked(torch.relu(self.a(x)), x > 0)
        two = Masked(x, x < 1)
        steps = 0
        while steps < 3 or bool((x.sum() > 1000 * steps).item()):
            one.step(two.filled())
            kept = one
            one = two
            two = kept
            steps += 1
        return torch.tanh(self.a(one.filled())) - two.filled() * one.steps


script("exchanged", Exchanged(), torch.randn(2, 4))


class Aliased(nn.Module):
    """The first object is read after the loop that may write to it."""

    def forward(self, x):
        first = Masked(x, x > 0)
        state = first
        steps = 0
        while steps < 3 or bool((x.sum() > 1000 * steps).item()):
            state.step(x)
            if bool((state.tensor.sum() > 1).item()):
                state = Masked(x, x < 0)
            steps += 1
        return first.filled() + state.filled()


script("aliased", Aliased(), torch.randn(2, 4), outputs=False)

# Checks.


class Checks(nn.Module):
    """One check can fail for other data, one of the shape cannot, one has a value if it fails."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        assert x.dim() == 2
        if x.size(1) != 4:
            raise ValueError("four columns are needed")
        y = self.a(x)
        if bool((x < -100).any()):
            raise ValueError("sensor fault")
        if bool((x > 100).any().item()):
            raise RuntimeError("too hot")
        else:
            z = torch.relu(self.b(y))
        return torch.tanh(z) * y


script("checks", Checks(), torch.randn(2, 4))

# Quantised layers.


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 6, batch_first=True)
        self.first = nn.Linear(6, 16)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        y, state = self.rnn(x)
        return self.last(torch.relu(self.first(y)))


quantised = torch.ao.quantization.quantize_dynamic(Quantised().eval(), {nn.Linear, nn.LSTM}, dtype=torch.qint8)
script("quantised", quantised, torch.randn(2, 3, 8))
save("quantised_frozen", torch.jit.freeze(torch.jit.script(quantised.eval())), torch.randn(2, 3, 8))

# Random numbers.


class Random(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        y = self.a(x)
        y = y + torch.randn_like(y)
        noise = torch.empty_like(y).uniform_(0.0, 1.0)
        other = torch.empty_like(y).uniform_(0.0, 1.0)
        return self.b(F.dropout(torch.relu(y) * noise - other))


script("random", Random(), torch.randn(2, 4), outputs=False)


class Dropped(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.relu(self.a(x)))


save("trained", torch.jit.trace(Dropped().train(), torch.randn(2, 4), check_trace=False), outputs=False)

# Loops.


class Long(nn.Module):
    """A loop of more steps than are unrolled, with a short one inside."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.a(x))
        for t in range(3000):
            for k in range(2):
                y = y * 0.9999 + 0.0001 * float(k)
        for t in range(3):
            y = torch.tanh(y)
        return y


script("long", Long(), torch.randn(2, 4))


class OnlyLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x, n: int = 3):
        i = 0
        while i < n:
            x = self.a(x)
            i += 1
        return x


script("only_loop", OnlyLoop(), torch.randn(2, 4))


class Endless(nn.Module):
    """A loop that large inputs never leave."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.a(x))
        while bool(x.sum() > 1000):
            y = y + 1
        return y * 2


script("endless", Endless(), torch.randn(2, 4))

# State in a buffer.


class Past(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.register_buffer("past", torch.zeros(1, 4))

    def forward(self, x):
        y = self.a(x) + self.past
        self.past.copy_(y.mean(0, keepdim=True))
        return torch.tanh(y)


script("past", Past(), torch.randn(2, 4), outputs=False)

# What needs a clear error, or a device that is not there.


class Gpu(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        offset = torch.ones(4, device=torch.device("cuda:0"))
        return torch.relu(self.a(x.to("cuda:0")) + offset.cuda())


script("gpu", Gpu(), torch.randn(2, 4), outputs=False)
script("half", nn.Sequential(nn.Conv2d(3, 4, 3)).half(), outputs=False)
layers = torch.jit.script(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval())
torch.jit.optimize_for_inference(torch.jit.freeze(layers)).save(f"{folder}/optimised.pt")
