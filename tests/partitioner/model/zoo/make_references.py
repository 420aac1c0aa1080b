#!/usr/bin/env python3
"""Makes models to compare ours with, torchvision's own if it has them.

usage: make_references.py NAME CLASSES SIZE FOLDER

| file in FOLDER  | content                                                            |
|-----------------|--------------------------------------------------------------------|
| NAME.pth        | the state_dict                                                     |
| NAME.legacy.pth | the same in the older form                                         |
| NAME.names      | names and shapes in order                                          |
| NAME.training   | modules that training changes, with their numbers                  |
| NAME.io         | the bytes of an input and of the output in eval mode, float32      |
"""

import sys

import torch
import torchvision

name, classes, size, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
torch.manual_seed(7)
options = {"num_classes": classes}
if name == "yolov8n":
    import yolov8n_reference
    model = yolov8n_reference.YOLOv8n(**options)
elif name.startswith("deeplabv3"):
    model = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, **options)
else:
    if name in ("inception_v3", "googlenet"):
        options.update(init_weights=False, aux_logits=name == "inception_v3", transform_input=False)
    if name.startswith("vit"):
        options["image_size"] = size
    model = getattr(torchvision.models, name)(weights=None, **options)
with torch.no_grad():
    for key, value in model.state_dict().items():
        # Running statistics as training leaves them, so that a wrong epsilon or order shows.
        if key.endswith("running_mean"):
            value.uniform_(-0.1, 0.1)
        elif key.endswith("running_var"):
            value.uniform_(0.5, 1.5)
        elif value.is_floating_point() and not value.any():
            # What begins as zeros would hide what it is multiplied with.
            value.uniform_(-0.05, 0.05)
model.eval()
torch.save(model.state_dict(), f"{folder}/{name}.pth")
torch.save(model.state_dict(), f"{folder}/{name}.legacy.pth", _use_new_zipfile_serialization=False)
with open(f"{folder}/{name}.names", "w") as names:
    for key, value in model.state_dict().items():
        print(key, "x".join(map(str, value.shape)) or "scalar", file=names)
with open(f"{folder}/{name}.training", "w") as training:
    for key, module in model.named_modules():
        if key.startswith(("AuxLogits", "aux")):
            continue
        if isinstance(module, torch.nn.Dropout) and module.p > 0:
            print(key, "dropout", module.p, file=training)
        if isinstance(module, torch.nn.BatchNorm2d):
            print(key, "batch_norm", module.momentum, file=training)
picture = torch.randn(2, 3, size, size)
with torch.no_grad():
    output = model(picture)
if isinstance(output, dict):
    output = output["out"]
with open(f"{folder}/{name}.io", "wb") as file:
    file.write(picture.numpy().tobytes())
    file.write(output.numpy().tobytes())
