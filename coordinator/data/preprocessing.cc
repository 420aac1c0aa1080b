#include "coordinator/data/preprocessing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/config_reader.h"
#include "core/base/text.h"

namespace pareto::data {
namespace {

constexpr int kMostAsked = 16'384;

struct NamedInterpolation {
  const char* name;
  Interpolation interpolation;
};
constexpr std::array<NamedInterpolation, 2> kInterpolations{
    {{"bilinear", Interpolation::kBilinear}, {"bicubic", Interpolation::kBicubic}}};

std::optional<int> parse_side(std::string_view text) {
  int side = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), side);
  const bool fits = status == std::errc() && end == text.data() + text.size();
  return fits && side >= 1 && side <= kMostAsked ? std::optional(side) : std::nullopt;
}

class PreprocessingReader {
 public:
  explicit PreprocessingReader(ConfigReader& file) : file_(file), root_(file.root()) {}

  Expected<Preprocessing> read() {
    root_.optional("grayscale", made_.grayscale);
    read_resize();
    read_crop();
    read_interpolation();
    made_.mean = read_channels("mean");
    made_.std = read_channels("std");
    if (std::ranges::any_of(made_.std, [](float value) { return value <= 0; })) {
      root_.problem("std", "is divided by: should be above 0");
    }
    PARETO_TRY(file_.finish());
    return std::move(made_);
  }

 private:
  /// Reads "224" or "224x320". No value means that the key is absent or a problem was noted.
  std::optional<std::vector<int>> read_sides(const char* key) {
    std::string text;
    root_.optional(key, text);
    if (text.empty()) return std::nullopt;
    std::vector<int> sides;
    for (const std::string& part : split_list(text, 'x')) {
      if (const auto side = parse_side(part)) sides.push_back(*side);
    }
    const bool whole = static_cast<std::size_t>(std::ranges::count(text, 'x')) + 1 == sides.size();
    if (whole && sides.size() <= 2) return sides;
    root_.problem(key, fmt::format("should be pixels, 1 to {}: a side, as 224, or height and "
                                   "width, as 224x320",
                                   kMostAsked));
    return std::nullopt;
  }

  void read_resize() {
    const auto sides = read_sides("resize");
    if (!sides) return;
    if (sides->size() == 1) {
      made_.shorter_side = sides->front();
    } else {
      made_.size = {sides->front(), sides->back()};
    }
  }
  void read_crop() {
    if (const auto sides = read_sides("crop")) made_.crop = {sides->front(), sides->back()};
  }
  void read_interpolation() {
    std::string name = kInterpolations.front().name;
    root_.optional("interpolation", name);
    std::vector<std::string> names;
    for (const NamedInterpolation& known : kInterpolations) {
      if (known.name == name) made_.interpolation = known.interpolation;
      names.emplace_back(known.name);
    }
    if (std::ranges::find(names, name) == names.end()) {
      root_.problem("interpolation", fmt::format("{} is not known{}; there are {}", name,
                                                 did_you_mean(name, names), join(names)));
    }
  }

  std::vector<float> read_channels(const char* key) {
    std::vector<std::string> texts;
    root_.optional(key, texts);
    std::vector<float> numbers;
    for (const std::string& text : texts) {
      double number = 0;
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
      // A float holds less than a double.
      const auto single = static_cast<float>(number);
      if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(single)) {
        root_.problem(key, fmt::format("has {}, which is no number", text));
        return {};
      }
      numbers.push_back(single);
    }
    const auto channels = static_cast<std::size_t>(channels_of(made_));
    if (!numbers.empty() && numbers.size() != channels) {
      root_.problem(key, fmt::format("should have {}, one for each channel",
                                     channels == 1 ? "1 number" : "3 numbers"));
      return {};
    }
    return numbers;
  }

  ConfigReader& file_;
  ConfigSection root_;
  Preprocessing made_;
};

bool is_set(PictureSize size) { return size.height > 0 && size.width > 0; }

Expected<Picture> resized(Picture picture, const Preprocessing& how) {
  if (is_set(how.size)) return resize(picture, how.size, how.interpolation);
  if (how.shorter_side == 0) return picture;
  PARETO_ASSIGN(const PictureSize size, with_shorter_side(picture.size, how.shorter_side));
  return resize(picture, size, how.interpolation);
}

}  // namespace

Expected<Preprocessing> read_preprocessing(const std::filesystem::path& path) {
  PARETO_ASSIGN(auto file, ConfigReader::from_file(path));
  return PreprocessingReader(file).read();
}

Expected<Preprocessing> parse_preprocessing(const std::string& text, const std::string& name) {
  PARETO_ASSIGN(auto file, ConfigReader::from_text(text, name));
  return PreprocessingReader(file).read();
}

Preprocessing imagenet_preprocessing(PictureSize input) {
  Preprocessing made;
  made.shorter_side = static_cast<int>(std::lround(std::min(input.height, input.width) * 8 / 7.0));
  // An input that is not square shows the whole picture.
  if (input.height != input.width) {
    made.shorter_side = 0;
    made.size = input;
  }
  made.crop = input;
  made.mean = {0.485F, 0.456F, 0.406F};
  made.std = {0.229F, 0.224F, 0.225F};
  return made;
}

Preprocessing cifar10_preprocessing(PictureSize input) {
  constexpr PictureSize kOwn{32, 32};
  Preprocessing made;
  if (input != kOwn) made.size = input;
  made.mean = {0.4914F, 0.4822F, 0.4465F};
  made.std = {0.2470F, 0.2435F, 0.2616F};
  return made;
}

int channels_of(const Preprocessing& preprocessing) { return preprocessing.grayscale ? 1 : 3; }

std::optional<PictureSize> size_after(const Preprocessing& preprocessing,
                                      std::optional<PictureSize> before) {
  if (is_set(preprocessing.crop)) return preprocessing.crop;
  if (is_set(preprocessing.size)) return preprocessing.size;
  if (preprocessing.shorter_side == 0 || !before) return before;
  const auto size = with_shorter_side(*before, preprocessing.shorter_side);
  return size ? std::optional(*size) : std::nullopt;
}

Expected<Tensor> preprocess(Picture picture, const Preprocessing& how) {
  if (how.grayscale) picture = to_grayscale(picture);
  PARETO_ASSIGN(picture, resized(std::move(picture), how));
  if (is_set(how.crop)) {
    PARETO_ASSIGN(picture, crop_centre(picture, how.crop));
  }
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::size_t pixels = picture.bytes.size() / channels;
  PARETO_ASSIGN(Tensor tensor,
                Tensor::allocate(DType::kFloat32,
                                 {picture.channels, picture.size.height, picture.size.width}));
  auto* const values = reinterpret_cast<float*>(tensor.mutable_bytes().data());
  for (std::size_t c = 0; c < channels; ++c) {
    const float mean = how.mean.empty() ? 0 : how.mean[c];
    const float std = how.std.empty() ? 1 : how.std[c];
    std::array<float, 256> value_of{};
    for (std::size_t byte = 0; byte < value_of.size(); ++byte) {
      value_of[byte] = (static_cast<float>(byte) / 255.0F - mean) / std;
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      values[c * pixels + i] = value_of[picture.bytes[i * channels + c]];
    }
  }
  return tensor;
}

}  // namespace pareto::data
