// How a picture becomes a model's input, with torchvision's meaning of each step:
//
//   picture ──grayscale──resize──crop──▶ bytes ──/ 255──(x − mean) / std──▶ float32 {C, H, W}
//
// Format of its files: coordinator/data/FORMAT.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/data/picture.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::data {

/// Steps in the order in which they are taken. By default it is ToTensor, and nothing before it.
struct Preprocessing {
  bool grayscale = false;  ///< one channel, in place of three
  /// The shorter side after resizing; 0 means that it is not resized by it.
  int shorter_side = 0;
  /// The size after resizing, whatever the sides' ratio; none of both if a side is 0.
  PictureSize size;
  /// The central part that is kept; all if a side is 0.
  PictureSize crop;
  Interpolation interpolation = Interpolation::kBilinear;
  std::vector<float> mean;  ///< one for each channel; empty: 0
  std::vector<float> std;   ///< one for each channel; empty: 1
  bool operator==(const Preprocessing&) const = default;
};

/// Reads a file. Fails: as ConfigReader::from_file() and finish(), with file, line and key.
Expected<Preprocessing> read_preprocessing(const std::filesystem::path& path);
/// Reads text. `name` is the file's, for errors.
Expected<Preprocessing> parse_preprocessing(const std::string& text, const std::string& name);

/// Returns what torchvision's models on ImageNet are evaluated with: the shorter side resized to
/// 8/7 of the crop, which is the model's input (256 and 224, 342 and 299).
Preprocessing imagenet_preprocessing(PictureSize input);
/// Returns the usual one on CIFAR-10: its pictures are resized if the model takes another size.
Preprocessing cifar10_preprocessing(PictureSize input);

/// Returns the channels that it makes: 1 or 3.
int channels_of(const Preprocessing& preprocessing);
/// Returns the size that pictures of that size get. No value means that it depends on the picture.
std::optional<PictureSize> size_after(const Preprocessing& preprocessing,
                                      std::optional<PictureSize> before);

/// Makes an input of a picture: float32 {C, H, W}, with the bits of torchvision's transforms on
/// Pillow's pictures. Fails: kExhausted (a picture becomes too large).
Expected<Tensor> preprocess(Picture picture, const Preprocessing& preprocessing);

}  // namespace pareto::data
