// The far end of the transport benches: a process of its own, as a neighbouring stage is.
//
//   pareto_bench transport ══ each transport's link, and a bare socket ══▶ pareto_bench wire-peer
#pragma once

#include <cstdint>

namespace pareto::bench {

/// The order for what the peer does with a message: its sequence number, or the bare header's first
/// word.
enum class Order : std::uint32_t {
  kTake = 0,    ///< nothing
  kEcho = 1,    ///< send it back
  kReport = 2,  ///< answer with the processor time this process has spent, in nanoseconds
};

/// Links that begin with hello are probes of their rate (daemon/stage/link_probe.h).
/// `pareto_bench wire-peer …`, the arguments behind that word. Ends by SIGTERM.
int run_wire_peer(int argc, char** argv);

}  // namespace pareto::bench
