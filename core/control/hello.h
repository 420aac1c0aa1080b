// The first words on every link between stages, and between the coordinator and a stage. Both
// programs say them. Format: FORMAT.md.
//
//   connecting side --kHello--> accepting side
//       --kReady (or kError, then close)--> kPing … kValues …
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/wire/message.h"

namespace pareto::control {

enum class Role {
  kUpstream,  ///< the peer will send requests to this stage
  kSink,      ///< the peer takes the results of this last stage
  kProbe,     ///< the peer measures the link, and speaks to no stage
};
/// Returns "upstream", "sink", "probe".
std::string_view to_string(Role role);

struct Hello {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;  ///< stage of the accepting side
  Role role = Role::kUpstream;
  /// Time between two signs of life of the speaker on the link (core/transport/live_link.h). 0
  /// means that it gives none, and gets none.
  Nanoseconds beat{};
  /// True if the numbers of its requests count up by one, or begin again with 0.
  bool in_order = false;

  /// Returns how often the side that answers shows life: it does if the speaker does.
  Nanoseconds answering_beat() const;
};

wire::Message hello_message(const Hello& hello);
/// Reads a hello that a peer sent. Fails: kCorrupt (no hello), kInvalidArgument (another protocol,
/// both named).
Expected<Hello> parse_hello(const wire::Message& message);

/// Makes the answer to a hello. `beat`: how often this side shows life; 0: it does not.
wire::Message ready_message(std::uint64_t pipeline, Nanoseconds beat = Nanoseconds(0));
/// Returns how often the side that answered so shows life; 0: it does not. Fails: kCorrupt.
Expected<Nanoseconds> beat_of_ready(const wire::Message& message);

/// Characters of a peer's error that are kept: it names the stages that it came by.
inline constexpr std::size_t kLongestError = 2000;

/// Makes the message that carries a failed request to the sink, or refuses a hello.
wire::Message error_message(std::uint64_t pipeline, std::uint64_t request, const Error& error);
/// Returns the error that such a message carries, without control characters; kCorrupt if it
/// carries none.
Error error_of(const wire::Message& message);

}  // namespace pareto::control
