#!/usr/bin/env python3
"""Writes small TorchScript files of the kinds that are hard to cut: usage: make_models.py FOLDER"""

import sys
from typing import Dict, List, Tuple

import torch
import torchvision

folder = sys.argv[1]
torch.manual_seed(1)

# A Swin transformer: reshapes with sizes, rolls, masks; several tensors and lists cross its
# boundaries.
swin = torchvision.models.SwinTransformer(
    patch_size=[4, 4], embed_dim=12, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=5).eval()
torch.jit.script(swin).save(f"{folder}/swin.pt")
torch.jit.trace(swin, torch.rand(1, 3, 64, 64), check_trace=False).save(f"{folder}/swin_traced.pt")


class Structured(torch.nn.Module):
    """Takes two inputs, one of them integers. Has a branch on data, lists between operators, and a
    dict of outputs."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(10, 6)
        self.first = torch.nn.Linear(6, 6)
        self.second = torch.nn.Linear(6, 6)

    def forward(self, x: torch.Tensor, tokens: torch.Tensor) -> Dict[str, torch.Tensor]:
        parts: List[torch.Tensor] = [self.first(x), self.embed(tokens)]
        y = torch.cat(parts, dim=0)
        if bool((y.sum() > 0).item()):
            y = self.second(y)
        else:
            y = y * 2
        halves = torch.chunk(y, 2, dim=0)
        return {"sum": halves[0] + halves[1], "all": y}


torch.jit.script(Structured().eval()).save(f"{folder}/structured.pt")
