#include "core/control/hello.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/printable.h"
#include "core/plan/protocol.h"
#include "core/transport/silence.h"

namespace pareto::control {
namespace {

using wire::Message;
using wire::MessageKind;

/// Returns the value under a key of the hello's dict; null where there is none.
const Value* find(const Message& message, std::string_view key) {
  const Dict* dict = message.body.get_if<Dict>();
  if (dict == nullptr) return nullptr;
  for (const auto& [name, value] : dict->items) {
    const std::string* text = name.get_if<std::string>();
    if (text != nullptr && *text == key) return &value;
  }
  return nullptr;
}

template <typename T>
Expected<T> field(const Message& message, std::string_view key) {
  const Value* value = find(message, key);
  const T* held = value == nullptr ? nullptr : value->get_if<T>();
  if (held == nullptr) return fail(ErrorCode::kCorrupt, "hello without \"{}\"", key);
  return *held;
}

constexpr std::string_view kBeatKey = "beat_ms";
constexpr std::string_view kInOrderKey = "in_order";

std::int64_t in_milliseconds(Nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// Returns the beat that a hello or its answer names; 0: none, as older programs write.
Expected<Nanoseconds> beat_of(const Message& message) {
  const Value* const value = find(message, kBeatKey);
  if (value == nullptr) return Nanoseconds(0);
  const auto* const count = value->get_if<std::int64_t>();
  if (count == nullptr || *count < in_milliseconds(transport::kShortestBeat) ||
      *count > in_milliseconds(transport::kLongestBeat)) {
    return fail(ErrorCode::kCorrupt, "a beat that is not {} to {} ms",
                in_milliseconds(transport::kShortestBeat),
                in_milliseconds(transport::kLongestBeat));
  }
  return std::chrono::milliseconds(*count);
}

}  // namespace

std::string_view to_string(Role role) {
  constexpr std::array<std::string_view, 3> kNames{"upstream", "sink", "probe"};
  return kNames.at(static_cast<std::size_t>(role));
}

Nanoseconds Hello::answering_beat() const {
  return beat > Nanoseconds(0) ? transport::kBeat : Nanoseconds(0);
}

Message hello_message(const Hello& hello) {
  Message message;
  message.kind = MessageKind::kHello;
  message.pipeline = hello.pipeline;
  Dict dict{{{"protocol", std::int64_t{plan::kLinkProtocol}},
             {"pipeline", std::bit_cast<std::int64_t>(hello.pipeline)},
             {"stage", std::int64_t{hello.stage}},
             {"role", std::string(to_string(hello.role))}}};
  // Older programs read what they know of.
  if (hello.beat > Nanoseconds(0)) {
    dict.items.emplace_back(std::string(kBeatKey), in_milliseconds(hello.beat));
  }
  if (hello.in_order) dict.items.emplace_back(std::string(kInOrderKey), true);
  message.body = std::move(dict);
  return message;
}

Expected<Hello> parse_hello(const Message& message) {
  if (message.kind != MessageKind::kHello) {
    return fail(ErrorCode::kCorrupt, "the first message is of kind {}, not hello",
                static_cast<int>(message.kind));
  }
  // Before all else: what another protocol writes here need not be understood.
  PARETO_ASSIGN(const auto protocol, field<std::int64_t>(message, "protocol"));
  if (!plan::speaks(protocol)) {
    return fail(ErrorCode::kInvalidArgument,
                "the peer speaks protocol {}, this side speaks {} and down to {}: install the same "
                "version on both",
                protocol, plan::kProtocolVersion, plan::kOldestProtocol);
  }
  PARETO_ASSIGN(const auto pipeline, field<std::int64_t>(message, "pipeline"));
  PARETO_ASSIGN(const auto stage, field<std::int64_t>(message, "stage"));
  PARETO_ASSIGN(const auto role, field<std::string>(message, "role"));
  if (!std::in_range<std::uint32_t>(stage)) {
    return fail(ErrorCode::kCorrupt, "hello to stage {}", stage);
  }
  PARETO_ASSIGN(const Nanoseconds beat, beat_of(message));
  const Value* const in_order = find(message, kInOrderKey);
  const bool* const ordered = in_order == nullptr ? nullptr : in_order->get_if<bool>();
  for (const Role known : {Role::kUpstream, Role::kSink, Role::kProbe}) {
    if (role != to_string(known)) continue;
    return Hello{std::bit_cast<std::uint64_t>(pipeline), static_cast<std::uint32_t>(stage), known,
                 beat, ordered != nullptr && *ordered};
  }
  return fail(ErrorCode::kCorrupt, "hello in the unknown role \"{}\"", printable(role));
}

Message ready_message(std::uint64_t pipeline, Nanoseconds beat) {
  Message message;
  message.kind = MessageKind::kReady;
  message.pipeline = pipeline;
  if (beat > Nanoseconds(0)) {
    message.body = Dict{{{std::string(kBeatKey), in_milliseconds(beat)}}};
  }
  return message;
}

Expected<Nanoseconds> beat_of_ready(const Message& message) { return beat_of(message); }

Message error_message(std::uint64_t pipeline, std::uint64_t request, const Error& error) {
  Message message;
  message.kind = MessageKind::kError;
  message.pipeline = pipeline;
  message.request = request;
  message.body = Tuple{{std::string(to_string(error.code)), error.message}};
  return message;
}

Error error_of(const Message& message) {
  const Tuple* tuple = message.body.get_if<Tuple>();
  if (message.kind == MessageKind::kError && tuple != nullptr && tuple->items.size() == 2) {
    const std::string* code = tuple->items[0].get_if<std::string>();
    const std::string* text = tuple->items[1].get_if<std::string>();
    if (code != nullptr && text != nullptr) {
      return {error_code_from_string(*code), printable(*text, kLongestError)};
    }
  }
  return {ErrorCode::kCorrupt,
          fmt::format("a message of kind {} is no error", static_cast<int>(message.kind))};
}

}  // namespace pareto::control
