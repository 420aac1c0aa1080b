#!/usr/bin/env python3
"""Saves pictures of many kinds into the folder given, and what Pillow and torchvision make of them.

NAME.{jpg,png}        a picture
NAME.EXT.rgb          its bytes as convert("RGB") gives them, after a line "HEIGHT WIDTH"
NAME.EXT.STEPS.f32    what the transforms named STEPS make of it: float32
"""

import sys

import numpy
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

IMAGENET = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
STEPS = {
    "plain": [transforms.ToTensor()],
    "imagenet": [transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(), IMAGENET],
    "bicubic": [
        transforms.Resize(232, interpolation=InterpolationMode.BICUBIC),
        transforms.CenterCrop(224),
        transforms.ToTensor(),
        IMAGENET,
    ],
    "odd": [transforms.Resize(37), transforms.CenterCrop((30, 36)), transforms.ToTensor()],
    "exact": [transforms.Resize((50, 41)), transforms.ToTensor()],
    "padded": [transforms.CenterCrop((203, 150)), transforms.ToTensor()],
    "gray": [
        transforms.Grayscale(),
        transforms.Resize(28),
        transforms.CenterCrop(28),
        transforms.ToTensor(),
        transforms.Normalize([0.1307], [0.3081]),
    ],
}


def drawn(height, width):
    """Returns a picture of waves, edges and noise."""
    random = numpy.random.default_rng(height * 1000 + width)
    y, x = numpy.mgrid[0:height, 0:width]
    waves = [127 + 100 * numpy.sin(x / (3 + c) + y * y / 500) + 30 * ((x // 7 + y // 5) % 2) for c in range(3)]
    noise = random.integers(-20, 20, (height, width, 3))
    return Image.fromarray(numpy.clip(numpy.stack(waves, 2) + noise, 0, 255).astype(numpy.uint8))


def main():
    folder = sys.argv[1]
    large, small = drawn(173, 250), drawn(61, 33)
    large.save(f"{folder}/large.jpg", quality=90)
    large.save(f"{folder}/full_colour.jpg", quality=95, subsampling=0)
    large.save(f"{folder}/progressive.jpg", quality=70, progressive=True)
    large.convert("L").save(f"{folder}/grey.jpg")
    large.convert("CMYK").save(f"{folder}/cmyk.jpg", quality=90)
    small.save(f"{folder}/small.jpg")
    large.save(f"{folder}/large.png")
    small.save(f"{folder}/small.png")
    small.convert("L").save(f"{folder}/grey.png")
    small.convert("1").save(f"{folder}/two_values.png")
    small.quantize(13).save(f"{folder}/palette.png")
    small.quantize(200).save(f"{folder}/transparent_palette.png", transparency=3)
    small.save(f"{folder}/one_transparent.png", transparency=(1, 2, 3))
    transparent = small.copy()
    transparent.putalpha(small.convert("L"))
    transparent.save(f"{folder}/transparent.png")
    transparent.convert("LA").save(f"{folder}/transparent_grey.png")
    names = """large.jpg full_colour.jpg progressive.jpg grey.jpg cmyk.jpg small.jpg large.png small.png grey.png
      two_values.png palette.png transparent_palette.png one_transparent.png transparent.png transparent_grey.png"""
    for name in names.split():
        picture = Image.open(f"{folder}/{name}").convert("RGB")
        with open(f"{folder}/{name}.rgb", "wb") as file:
            file.write(f"{picture.height} {picture.width}\n".encode() + picture.tobytes())
    for name in ("large.jpg", "small.png"):
        picture = Image.open(f"{folder}/{name}").convert("RGB")
        for steps, made in STEPS.items():
            transforms.Compose(made)(picture).numpy().tofile(f"{folder}/{name}.{steps}.f32")


main()
