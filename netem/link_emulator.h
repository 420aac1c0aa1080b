// A link between two network namespaces with a condition on it, for kernels without netem: no more than TUN devices and tbf.
//
//   namespace A: sockets ─▶ tbf (rate, queue) ─▶ TUN ─▶ [this process: delay] ─▶ TUN ─▶ sockets, namespace B     and the same back
//
// Packets are handed on in order and as they are, up to 64 KiB of TCP segments at a time. What the queue has no room for is dropped on
// the sender's own machine, which tells its TCP at once; it is not a loss that must be found out by waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/network_namespace.h"

namespace pareto::netem {

/// One side of a link: where its device is, and its IPv4 address on the link ("10.213.0.1").
struct LinkEnd {
  const NetworkNamespace& where;
  std::string address;
};

/// The link is there while this lives. Devices and queues end with the process at the latest, whatever ends it.
///
/// Threads: one owner; it has one of its own for each direction.
class LinkEmulator {
 public:
  /// Forward is from `first` to `second`. Fails: kPermission (root is needed), kUnavailable (the kernel has no TUN or no tbf),
  /// kNotFound (iproute2 is not installed); each with its remedy.
  static Expected<std::unique_ptr<LinkEmulator>> create(const LinkEnd& first, const LinkEnd& second,
                                                        const Condition& condition);
  virtual ~LinkEmulator() = default;

  /// Packets that were lost because this machine could not keep up: a measurement under way then measured something else.
  virtual std::uint64_t lost_packets() const = 0;

 protected:
  LinkEmulator() = default;
};

}  // namespace pareto::netem
