#!/usr/bin/python3
"""Exports a model of torchvision for `./dev bench peers`.

usage: export_model.py NAME FOLDER

Writes FOLDER/NAME.pt (TorchScript, traced) and FOLDER/NAME.onnx (opset 17, any batch), which have
the same weights. Those are drawn at random from a fixed seed; batch normalisation has the
statistics of random images, so that values stay of usual size through deep networks.
"""

import os
import sys

import torch
import torchvision.models as zoo

# Those that are built into paretoctl have their names there.
MODELS = {
    "mobilenetv2": zoo.mobilenet_v2,
    "mobilenetv3_large": zoo.mobilenet_v3_large,
    "efficientnet_b0": zoo.efficientnet_b0,
    "squeezenet1_0": zoo.squeezenet1_0,
    "googlenet": lambda: zoo.googlenet(aux_logits=False, init_weights=True),
    "resnet18": zoo.resnet18,
    "resnet50": zoo.resnet50,
    "densenet121": zoo.densenet121,
    "inceptionv3": lambda: zoo.inception_v3(aux_logits=False, init_weights=True),
    "vgg16": zoo.vgg16,
}
OPSET = 17


def build(name, images):
    model = MODELS[name]()
    normalisations = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for normalisation in normalisations:
        normalisation.momentum = 1.0
    if normalisations:
        model.train()(images)
    return model.eval()


def main():
    name, folder = sys.argv[1:]
    torch.manual_seed(0)
    side = 299 if name == "inceptionv3" else 224
    images = torch.randn(4, 3, side, side)
    with torch.no_grad():
        model = build(name, images)
        example = images[:1]
        path = os.path.join(folder, name)
        # A file has its name when it is whole; the last of the two says that both are there.
        torch.jit.trace(model, example).save(path + ".pt.part")
        torch.onnx.export(model, example, path + ".onnx.part", opset_version=OPSET, input_names=["input"],
                          output_names=["output"],
                          dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}})
    os.replace(path + ".pt.part", path + ".pt")
    os.replace(path + ".onnx.part", path + ".onnx")


if __name__ == "__main__":
    main()
