// Cost of each way to send a value, measured on this machine with the value itself. `--codec auto`
// decides by it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tensor/value.h"
#include "core/wire/codec.h"

namespace pareto::wire {

struct CodecCost {
  std::string codec;        ///< "none", or a codec's name
  std::uint64_t bytes = 0;  ///< bytes of the frame on a wire
  Nanoseconds encode{};     ///< time in the codec; 0 for none
  Nanoseconds decode{};
  double error = 0;  ///< CodecError::mean of the worst tensor; 0 where nothing is lost
};

/// Measures the cost of one codec; null: none. Times are the shortest of a few turns: whatever else
/// a machine does only adds to them. Fails: as encode_frame() and FrameDecoder do.
Expected<CodecCost> codec_cost(const Value& body, const Codec* codec);
/// Returns the costs of none first, then of every built-in codec in order. Fails: as codec_cost()
/// does.
Expected<std::vector<CodecCost>> codec_costs(const Value& body);
/// Makes a tensor that looks like activations behind a ReLU: seeded noise, half of it zeros. The
/// same tensor everywhere, to compare machines by.
Expected<Value> standard_activations();

}  // namespace pareto::wire
