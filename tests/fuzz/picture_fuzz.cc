// Any bytes as a picture: refused, or as many pixels as its size says, which a model takes.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "coordinator/data/preprocessing.h"

namespace pareto::data {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto picture = decode_picture(std::as_bytes(std::span(data, size)));
  if (!picture) return 0;
  const auto pixels = static_cast<std::size_t>(picture->size.height) *
                      static_cast<std::size_t>(picture->size.width);
  if (picture->channels != 3 || picture->bytes.size() != 3 * pixels) std::abort();
  const auto input = preprocess(*std::move(picture), imagenet_preprocessing({8, 8}));
  if (input && input->shape() != Shape{3, 8, 8}) std::abort();
  return 0;
}

}  // namespace pareto::data
