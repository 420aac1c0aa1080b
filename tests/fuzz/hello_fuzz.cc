// Any message as the first words on a link: refused, or a hello that is said and heard again as it
// was. An error that a peer sends is fit to be shown.
//
//   input = the message's kind, then what framed.h makes a frame of
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/base/printable.h"
#include "core/control/hello.h"
#include "core/wire/frame.h"
#include "tests/fuzz/framed.h"

namespace pareto {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto bytes = fuzz::framed(static_cast<wire::MessageKind>(data[0]),
                                  std::as_bytes(std::span(data, size)).subspan(1));
  const auto message = wire::decode_frame(bytes, fuzz::kSmallFrames);
  if (!message) return 0;
  if (const auto hello = control::parse_hello(*message)) {
    const auto again = control::parse_hello(control::hello_message(*hello));
    if (!again || again->pipeline != hello->pipeline || again->stage != hello->stage ||
        again->role != hello->role) {
      std::abort();
    }
  } else if (!is_printable(hello.error().message)) {
    std::abort();
  }
  const Error error = control::error_of(*message);
  if (!is_printable(error.message) || error.message.size() > control::kLongestError) std::abort();
  return 0;
}

}  // namespace pareto
