#include "daemon/stage/early_parts.h"

#include <utility>

#include "core/wire/parts.h"

namespace pareto::daemon {

void EarlyParts::begin(std::uint64_t pipeline, std::uint64_t request) {
  pipeline_ = pipeline;
  request_ = request;
  sent_ = 0;
  for (Output& output : outputs_) output.ready.reset();
}

bool EarlyParts::wants(std::size_t index) {
  if (index >= outputs_.size()) outputs_.resize(index + 1);
  outputs_[index].ready = clock_.now();
  return outputs_[index].lead >= wire::kWorthAPart && has_room_();
}

void EarlyParts::take(std::size_t index, Value value) {
  send_(wire::part_message(pipeline_, request_, sent_++, index, std::move(value)));
}

std::uint32_t EarlyParts::end() {
  const TimePoint now = clock_.now();
  for (Output& output : outputs_) {
    if (output.ready) output.lead = now - *output.ready;
  }
  return sent_;
}

}  // namespace pareto::daemon
