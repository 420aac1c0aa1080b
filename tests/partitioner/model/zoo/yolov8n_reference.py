"""YOLOv8n in torch.nn as its published configuration has it: our graph is compared with it. Names
in the state_dict are those of ultralytics' checkpoints."""

import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, inputs, outputs, kernel=1, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.03)

    def forward(self, x):
        return nn.functional.silu(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    def __init__(self, width, shortcut):
        super().__init__()
        self.cv1 = Conv(width, width, 3)
        self.cv2 = Conv(width, width, 3)
        self.shortcut = shortcut

    def forward(self, x):
        y = self.cv2(self.cv1(x))
        return x + y if self.shortcut else y


class Parts(nn.Module):
    def __init__(self, inputs, outputs, repeats=1, shortcut=False):
        super().__init__()
        self.width = outputs // 2
        self.cv1 = Conv(inputs, 2 * self.width)
        self.cv2 = Conv((2 + repeats) * self.width, outputs)
        self.m = nn.ModuleList(Bottleneck(self.width, shortcut) for _ in range(repeats))

    def forward(self, x):
        made = list(self.cv1(x).split(self.width, 1))
        for block in self.m:
            made.append(block(made[-1]))
        return self.cv2(torch.cat(made, 1))


class Pooled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cv1 = Conv(width, width // 2)
        self.cv2 = Conv(2 * width, width)

    def forward(self, x):
        x = self.cv1(x)
        wider = [nn.functional.max_pool2d(x, size, 1, size // 2) for size in (5, 9, 13)]
        return self.cv2(torch.cat([x] + wider, 1))


class Distances(nn.Module):
    """The mean of each distribution over 16 steps."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 1, 1, bias=False)
        self.conv.weight.data[:] = torch.arange(16.0).view(1, 16, 1, 1)

    def forward(self, x):
        shares = x.view(x.size(0), 4, 16, -1).softmax(2)
        return (shares * self.conv.weight.view(1, 1, 16, 1)).sum(2)


class Detect(nn.Module):
    def __init__(self, classes, widths):
        super().__init__()
        self.classes = classes
        width = max(widths[0], min(classes, 100))

        def branches(inner, outputs):
            return nn.ModuleList(
                nn.Sequential(Conv(inputs, inner, 3), Conv(inner, inner, 3), nn.Conv2d(inner, outputs, 1)) for inputs in widths)

        self.cv2 = branches(64, 64)
        self.cv3 = branches(width, classes)
        self.dfl = Distances()

    def forward(self, features):
        found = []
        for level, x in enumerate(features):
            stride = 8 * 2**level
            rows, columns = x.shape[2:]
            distance = self.dfl(self.cv2[level](x).flatten(2))
            across = (torch.arange(columns) + 0.5).repeat(rows)
            down = (torch.arange(rows) + 0.5).repeat_interleave(columns)
            left, top, right, bottom = distance.unbind(1)
            box = [across + (right - left) / 2, down + (bottom - top) / 2, left + right, top + bottom]
            found.append(torch.cat([stride * torch.stack(box, 1), self.cv3[level](x).flatten(2).sigmoid()], 1))
        return torch.cat(found, 2)


class YOLOv8n(nn.Module):
    def __init__(self, num_classes=80):
        super().__init__()
        larger = lambda: nn.Upsample(scale_factor=2)
        self.model = nn.ModuleList([
            Conv(3, 16, 3, 2), Conv(16, 32, 3, 2), Parts(32, 32, 1, True), Conv(32, 64, 3, 2), Parts(64, 64, 2, True),
            Conv(64, 128, 3, 2), Parts(128, 128, 2, True), Conv(128, 256, 3, 2), Parts(256, 256, 1, True), Pooled(256),
            larger(), nn.Identity(), Parts(384, 128), larger(), nn.Identity(), Parts(192, 64),
            Conv(64, 64, 3, 2), nn.Identity(), Parts(192, 128), Conv(128, 128, 3, 2), nn.Identity(), Parts(384, 256),
            Detect(num_classes, [64, 128, 256])])

    def forward(self, x):
        before = {11: 6, 14: 4, 17: 12, 20: 9}
        made = []
        for index, layer in enumerate(self.model[:-1]):
            if index in before:
                x = torch.cat([x, made[before[index]]], 1)
            x = layer(x)
            made.append(x)
        return self.model[-1]([made[15], made[18], made[21]])
