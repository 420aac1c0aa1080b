#!/usr/bin/env python3
"""Saves small TorchScript files of torchvision models with random weights into the folder given."""

import sys
from typing import Dict, List, Optional

import torch
import torchvision


class Structured(torch.nn.Module):
    """Several inputs, a loop over modules, control flow on data, lists and a dict of results."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(3)])
        self.head = torch.nn.Linear(8, 4)

    def forward(self, image, extra, mask: Optional[torch.Tensor] = None):
        x = self.stem(image).mean([2, 3]) + extra
        seen: List[torch.Tensor] = []
        for block in self.blocks:
            x = torch.relu(block(x)) + x
            seen.append(x)
        if mask is not None:
            x = x * mask
        steps = 0
        while bool(x.abs().max() > 1.0) and steps < 5:
            x = x * 0.5
            steps += 1
        result: Dict[str, torch.Tensor] = {"scores": self.head(x)}
        if steps > 0:
            result["halved"] = x * float(steps)
        else:
            result["halved"] = x
        result["all"] = torch.cat(seen, 1)
        return result


def prepare(model):
    model.eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return model


def main() -> None:
    folder = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.no_grad():
        image = torch.randn(1, 3, 64, 64)
        mobilenet = prepare(torchvision.models.mobilenet_v2(weights=None))
        torch.jit.trace(mobilenet, image).save(f"{folder}/mobilenet_v2_traced.pt")
        torch.jit.script(mobilenet).save(f"{folder}/mobilenet_v2_scripted.pt")
        swin = prepare(torchvision.models.SwinTransformer(
            patch_size=[4, 4], embed_dim=24, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=10))
        torch.jit.trace(swin, image).save(f"{folder}/swin_traced.pt")
        torch.jit.script(prepare(Structured())).save(f"{folder}/structured_scripted.pt")


main()
