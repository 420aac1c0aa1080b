// The emulator of packets in this process, for kernels without netem: no more than TUN devices and
// tbf.
//
//   namespace A: sockets ─▶ tbf (rate, queue) ─▶ TUN ─▶ [this process: delay, loss, …] ─▶ TUN
//       ─▶ sockets, namespace B; and the same back
//
// Packets are handed on unchanged: up to 64 KiB of TCP segments at a time if all fare alike, else
// one by one. What the queue has no room for is dropped on the sender's own machine, which tells
// its TCP at once. So TCP need not find this loss by waiting.
#pragma once

#include <cstdint>
#include <memory>

#include "netem/link_emulator.h"

namespace pareto::netem {

/// Makes an emulator as LinkEmulator::create() does. Fails: kPermission (root is needed),
/// kUnavailable (the kernel has no TUN or no tbf), kNotFound (iproute2 is not installed); each with
/// its remedy. Threads: one of its own for each direction.
Expected<std::unique_ptr<LinkEmulator>> make_user_emulator(const LinkEnd& first,
                                                           const LinkEnd& second,
                                                           const plan::Condition& condition,
                                                           std::uint64_t seed);

}  // namespace pareto::netem
