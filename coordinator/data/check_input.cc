#include "coordinator/data/check_input.h"

namespace pareto::data {
namespace {

constexpr PictureSize kUsualInput{224, 224};

/// Returns the size of pictures that a model takes; no value if it takes none, or is not known.
std::optional<PictureSize> picture_size_of(const Shape& shape) {
  if (shape.size() != 3) return std::nullopt;
  for (const std::int64_t side : {shape[1], shape[2]}) {
    if (side < 1 || side > kLongestSide) return std::nullopt;
  }
  return PictureSize{static_cast<int>(shape[1]), static_cast<int>(shape[2])};
}

}  // namespace

Expected<> check_input(const Shape& shape, const DataSetOptions& options,
                       const std::string& remedy) {
  if (options.input_shape.empty() || shape == options.input_shape) return {};
  return fail(ErrorCode::kInvalidArgument, "its samples are {}, and the model takes {}: {}",
              pareto::to_string(shape), pareto::to_string(options.input_shape), remedy);
}

Expected<Preprocessing> settle_preprocessing(const DataSetOptions& options,
                                             Preprocessing (*usual)(PictureSize input),
                                             std::optional<PictureSize> own) {
  const auto wanted = picture_size_of(options.input_shape);
  const Preprocessing made = options.preprocessing
                                 ? *options.preprocessing
                                 : usual(wanted.value_or(own.value_or(kUsualInput)));
  const auto size = size_after(made, own);
  if (!size) return made;
  PARETO_TRY(check_input({channels_of(made), size->height, size->width}, options,
                         "name a preprocessing (--preprocess FILE) with a crop of that size, and "
                         "grayscale: true if it takes one channel"));
  return made;
}

}  // namespace pareto::data
