// The kernel's own emulator: a pair of joined Ethernet devices (veth), netem and tbf on what leaves
// through each.
//
//   namespace A: sockets ─▶ netem (delay, loss, …) ─▶ tbf (rate, queue) ─▶ veth ═
//       veth ─▶ sockets, namespace B; and the same back
//
// No packet passes through this process, so that it is as prompt and as fast as the kernel. How it
// differs from the user-space emulator: netem/tc_commands.h.
#pragma once

#include <memory>

#include "netem/link_emulator.h"

namespace pareto::netem {

/// Makes an emulator as LinkEmulator::create() does. change() loses the packets on their way if the
/// new condition needs no netem, or jitter of another shape. In a namespace of `ip netns` the
/// devices outlive a process that was killed.
/// Fails, each with its remedy: kPermission (needs root), kUnavailable (the kernel has no veth, or
/// no netem and the condition needs it, or no tbf), kNotFound (iproute2 is not installed).
/// Threads: one of its own for each direction with a trace.
Expected<std::unique_ptr<LinkEmulator>> make_tc_emulator(const LinkEnd& first,
                                                         const LinkEnd& second,
                                                         const plan::Condition& condition);

}  // namespace pareto::netem
