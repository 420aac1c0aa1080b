#include "partitioner/planning/inputs/probes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pareto::planning {
namespace {

/// Scales a time in proportion to what the same takes there and here.
Nanoseconds scaled(Nanoseconds time, Nanoseconds there, Nanoseconds here) {
  if (there.count() <= 0 || here.count() <= 0) return time;
  return from_nanoseconds(to_nanoseconds(time) * to_nanoseconds(there) / to_nanoseconds(here));
}

std::size_t nearest(const std::vector<std::int64_t>& positions, std::int64_t position) {
  const auto closest = std::ranges::min_element(
      positions, {}, [position](std::int64_t one) { return std::abs(one - position); });
  return static_cast<std::size_t>(closest - positions.begin());
}

}  // namespace

wire::CodecCost codec_cost_on(const ProbedCodecs& probed, std::size_t codec, std::size_t device,
                              std::size_t place) {
  wire::CodecCost cost = probed.crossing[place][codec];
  const wire::CodecCost& here = probed.standard[codec];
  const wire::CodecCost& there = probed.on_devices[device][codec];
  cost.encode = scaled(cost.encode, there.encode, here.encode);
  cost.decode = scaled(cost.decode, there.decode, here.decode);
  return cost;
}

CodecFigures figures_of(const ProbedCodecs& probed, std::size_t codec, std::size_t from,
                        std::size_t to, std::int64_t position, std::int64_t boundary_bytes) {
  if (probed.positions.empty() || boundary_bytes <= 0) return {};
  const std::size_t row = nearest(probed.positions, position);
  const wire::CodecCost sent = codec_cost_on(probed, codec, from, row);
  const wire::CodecCost received = codec_cost_on(probed, codec, to, row);
  // Of the values it was measured on, which may be others than those of the position.
  const auto bytes = static_cast<double>(probed.plain_bytes[row]);
  CodecFigures figures;
  figures.bytes_factor = static_cast<double>(sent.bytes) / bytes;
  figures.encode_ns_per_byte = to_nanoseconds(sent.encode) / bytes;
  figures.decode_ns_per_byte = to_nanoseconds(received.decode) / bytes;
  figures.loss = static_cast<std::int64_t>(std::ceil(sent.error * kLossUnits));
  return figures;
}

}  // namespace pareto::planning
