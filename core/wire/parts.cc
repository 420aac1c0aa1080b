#include "core/wire/parts.h"

#include <algorithm>
#include <utility>

namespace pareto::wire {

Message part_message(std::uint64_t pipeline, std::uint64_t request, std::uint32_t sequence,
                     std::size_t position, Value value) {
  Message message;
  message.kind = MessageKind::kPart;
  message.pipeline = pipeline;
  message.request = request;
  message.sequence = sequence;
  message.body = Tuple{{static_cast<std::int64_t>(position), std::move(value)}};
  return message;
}

Expected<> PartAssembler::keep(Message part) {
  Tuple* const body = part.body.get_if<Tuple>();
  const auto* const position =
      body && body->items.size() == 2 ? body->items[0].get_if<std::int64_t>() : nullptr;
  if (part.kind != MessageKind::kPart || position == nullptr) {
    return fail(ErrorCode::kCorrupt, "part {} of request {} holds {}, not a position and a value",
                part.sequence, part.request, describe(part.body));
  }
  if (*position < 0 || static_cast<std::uint64_t>(*position) >= values_) {
    return fail(ErrorCode::kCorrupt, "part {} of request {} is value {} of {}", part.sequence,
                part.request, *position, values_);
  }
  const auto index = static_cast<std::size_t>(*position);
  const bool follows =
      part.sequence == parts_.size() && (parts_.empty() || part.request == request_);
  const bool known =
      std::ranges::any_of(parts_, [&](const Part& earlier) { return earlier.position == index; });
  if (!follows || known) {
    return fail(ErrorCode::kCorrupt, "part {} of request {} (value {}) came after {} of request {}",
                part.sequence, part.request, index, parts_.size(), request_);
  }
  request_ = part.request;
  parts_.push_back({index, std::move(body->items[1])});
  return {};
}

Expected<> PartAssembler::complete(Message& message) {
  std::vector<Part> parts = std::exchange(parts_, {});
  if (message.kind == MessageKind::kError) return {};
  if (message.sequence != parts.size() || (!parts.empty() && message.request != request_)) {
    return fail(ErrorCode::kCorrupt, "request {} has {} parts; {} of request {} came",
                message.request, message.sequence, parts.size(), request_);
  }
  Tuple* const body = message.body.get_if<Tuple>();
  for (Part& part : parts) {
    if (body == nullptr || part.position >= body->items.size() ||
        !body->items[part.position].is<None>()) {
      return fail(ErrorCode::kCorrupt, "request {} leaves no room for its value {}: {}",
                  message.request, part.position, describe(message.body));
    }
    body->items[part.position] = std::move(part.value);
  }
  message.sequence = 0;
  return {};
}

}  // namespace pareto::wire
