// The first words on every link between stages, and between the coordinator and a stage. Format: FORMAT.md.
//
//   connecting side --kHello--> accepting side --kReady (or kError, then close)--> kPing / kPong … --> kValues …
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"
#include "core/wire/message.h"

namespace pareto::daemon {

enum class Role {
  kUpstream,  ///< the peer will send requests to this stage
  kSink,      ///< the peer takes the results of this last stage
  kProbe,     ///< the peer measures the link, and speaks to no stage (daemon/stage/link_probe.h)
};
/// "upstream", "sink", "probe"
std::string_view to_string(Role role);

struct Hello {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;  ///< of the accepting side
  Role role = Role::kUpstream;
};

wire::Message hello_message(const Hello& hello);
/// Fails: kCorrupt (no hello), kInvalidArgument (another protocol, both named).
Expected<Hello> parse_hello(const wire::Message& message);

wire::Message ready_message(std::uint64_t pipeline);
/// A failed request on its way to the sink, or a refused hello: Tuple(code, message).
wire::Message error_message(std::uint64_t pipeline, std::uint64_t request, const Error& error);
/// The error that such a message carries; kCorrupt where it carries none.
Error error_of(const wire::Message& message);

/// Says hello and waits to be told ready. Fails: as links do, and with the peer's own error where it refuses.
Expected<> introduce(transport::Link& link, const Hello& hello, Deadline deadline);

}  // namespace pareto::daemon
