// A link between two network namespaces with a condition on it, emulated by the kernel
// (netem/tc_emulator.h) or by this process (netem/user_emulator.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/network_namespace.h"
#include "netem/packet_faults.h"

namespace pareto::netem {

enum class EmulatorKind {
  kAuto,  ///< tc where this kernel has netem, else user
  kTc,    ///< the kernel's: tc, netem, tbf
  kUser,  ///< this process's, for any kernel with TUN
};
/// Returns "auto", "tc", "user".
std::string_view to_string(EmulatorKind kind);
/// Finds a kind of emulator by its name. Fails: kInvalidArgument.
Expected<EmulatorKind> parse_emulator_kind(std::string_view name);

/// One side of a link: where its device is, and its IPv4 address on the link ("10.213.0.1").
struct LinkEnd {
  const NetworkNamespace& where;
  std::string address;
};

/// The link is there while this lives. Devices and queues end with the process at the latest,
/// whatever ends it (but for tc's in a namespace with a name).
///
/// Threads: one owner; it has some of its own.
class LinkEmulator {
 public:
  /// Creates a link. Forward is from `first` to `second`; both may go afterwards. Time begins now
  /// for what changes with it. The same seed gives packets the same fates (kUser only). Fails:
  /// kPermission (root is needed), kUnavailable (the kernel lacks what it takes), kNotFound
  /// (iproute2 is not installed); each with its remedy.
  static Expected<std::unique_ptr<LinkEmulator>> create(const LinkEnd& first, const LinkEnd& second,
                                                        const plan::Condition& condition,
                                                        EmulatorKind kind = EmulatorKind::kAuto,
                                                        std::uint64_t seed = 1);
  virtual ~LinkEmulator() = default;

  /// Returns the kind that was chosen: kTc or kUser.
  virtual EmulatorKind kind() const = 0;

  /// Changes the condition. The time of the new one begins now. Packets on their way arrive as they
  /// would have (but see tc_emulator.h). Fails: as create does; the link may then be neither the
  /// one nor the other.
  virtual Expected<> change(const plan::Condition& condition) = 0;

  /// Makes faults of both directions, in place of those that were made before; none of them ends
  /// all. Packets are then treated one by one, as on a wire. Fails: kInvalidArgument with the
  /// remedy (kTc: packets do not pass through this process), kUnavailable.
  virtual Expected<> disturb(PacketFaults forward, PacketFaults backward) = 0;

  /// Packets that were lost because this machine could not keep up: a measurement under way then
  /// measured something else.
  virtual std::uint64_t lost_packets() const = 0;
  /// Returns the number of packets lost as the condition has it: `loss` and `burst_loss`, both
  /// directions.
  virtual std::uint64_t dropped_packets() const = 0;
  /// Fails, as tc does, where the link could not be changed as its trace has it: it is not what was
  /// asked for since then.
  virtual Expected<> check() const = 0;

 protected:
  LinkEmulator() = default;
};

}  // namespace pareto::netem
