#!/usr/bin/env python3
"""An ordinary loop over a torchvision model in training mode, to compare paretoctl train with.

usage: train_reference.py begin|compare MODEL CLASSES SIZE SAMPLES FOLDER
       train_reference.py learn MODEL CLASSES SIZE SAMPLES FOLDER
           EPOCHS BATCH MICRO_BATCHES RATE MOMENTUM

`begin` writes FOLDER/begin.pth (a state_dict), inputs.npy and labels.npy. `learn` trains from
there, and writes FOLDER/end.pth. `compare` prints the names of tensors that differ between end.pth
and FOLDER/ours.pth in any bit."""

import sys

import numpy
import torch
import torchvision

BITS = (1 << 64) - 1


def mixed_bits(bits):
    """SplitMix64, as coordinator/train/mixed_bits.h has it."""
    bits = (bits + 0x9E3779B97F4A7C15) & BITS
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & BITS
    return bits ^ (bits >> 31)


def seed_of(step, micro_batch):
    """The seed of dropout, as coordinator/train/step_numbers.h has it with --seed 0."""
    return mixed_bits(mixed_bits(mixed_bits(0) ^ step) ^ micro_batch)


what, name, classes, size, samples, folder = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6]
torch.set_num_threads(1)
torch.manual_seed(7)
options = {"num_classes": classes}
if name in ("inception_v3", "googlenet"):
    options.update(init_weights=False, aux_logits=False, transform_input=False)
model = getattr(torchvision.models, name)(weights=None, **options)
if what == "begin":
    torch.save(model.state_dict(), f"{folder}/begin.pth")
    numpy.save(f"{folder}/inputs.npy", torch.randn(samples, 3, size, size).numpy())
    numpy.save(f"{folder}/labels.npy", torch.randint(0, classes, (samples,)).numpy())
elif what == "learn":
    epochs, batch, parts = map(int, sys.argv[7:10])
    rate, momentum = map(float, sys.argv[10:12])
    model.load_state_dict(torch.load(f"{folder}/begin.pth"))
    model.train()
    inputs = torch.from_numpy(numpy.load(f"{folder}/inputs.npy"))
    labels = torch.from_numpy(numpy.load(f"{folder}/labels.npy"))
    optimiser = torch.optim.SGD(model.parameters(), lr=rate, momentum=momentum)
    step = 0
    for _ in range(epochs):
        for begin in range(0, samples, batch):
            optimiser.zero_grad(set_to_none=True)
            of_batch = zip(inputs[begin:begin + batch].chunk(parts), labels[begin:begin + batch].chunk(parts))
            for part, (pictures, targets) in enumerate(of_batch):
                torch.manual_seed(seed_of(step, part))
                loss = torch.nn.functional.cross_entropy(model(pictures), targets)
                (loss * (len(targets) / batch)).backward()
            optimiser.step()
            step += 1
    torch.save(model.state_dict(), f"{folder}/end.pth")
else:
    end, ours = torch.load(f"{folder}/end.pth"), torch.load(f"{folder}/ours.pth")
    for key in sorted(end.keys() | ours.keys()):
        if key not in end or key not in ours or not torch.equal(end[key], ours[key]):
            print(key)
