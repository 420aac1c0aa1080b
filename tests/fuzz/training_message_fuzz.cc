// Any message to a stage that trains, or from one: refused, or read, written and read again.
//
//   input = the message's kind, then what framed.h makes a frame of
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/base/printable.h"
#include "core/control/training_message.h"
#include "core/wire/frame.h"
#include "tests/fuzz/framed.h"

namespace pareto {
namespace {

constexpr control::TrainingPlace kSomewhere{1, 2, 3};

/// Reads a message. If it can be read, what it is written as has to be read too.
template <typename Read, typename Write>
void take(const wire::Message& message, Read read, Write write) {
  const auto value = read(message);
  if (value && !read(write(kSomewhere, *value))) std::abort();
  if (!value && !is_printable(value.error().message)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto bytes = fuzz::framed(static_cast<wire::MessageKind>(data[0]),
                                  std::as_bytes(std::span(data, size)).subspan(1));
  const auto message = wire::decode_frame(bytes, fuzz::kSmallFrames);
  if (!message) return 0;
  take(*message, control::train_inputs_from, control::train_message);
  take(*message, control::target_from, control::target_message);
  take(*message, control::outcome_from, control::outcome_message);
  take(*message, control::gradients_from, control::gradient_message);
  take(*message, control::step_from, control::step_message);
  return 0;
}

}  // namespace pareto
