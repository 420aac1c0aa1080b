// The network between the devices of an experiment, where something is known or can be changed
// about it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/condition.h"
#include "netem/link_measurement.h"
#include "netem/packet_faults.h"
#include "netem/testbed.h"

namespace pareto::cluster {

struct NamedCondition {
  std::string name;  ///< "lte"; never "none"
  plan::Condition condition;
};

/// Returns "lte" of "configs/network/lte.yaml"; "none" of "none".
std::string condition_name(const std::string& file);

/// The network between devices: it applies conditions, and says what was measured of them.
///
/// Threads: one owner.
class Network {
 public:
  /// The condition of a network that is left as it is.
  static constexpr const char* kNone = "none";

  virtual ~Network() = default;

  /// Gives links that condition from now on; "none" is a network left as it is. Returns what it was
  /// measured to be like when it was first applied. Fails: kNotFound (no such condition),
  /// kUnavailable (the link is not what was asked for), kTimeout.
  virtual Expected<netem::LinkMeasurement> apply(const std::string& condition) = 0;
  /// Checks that the condition may be applied. Fails: kNotFound or kInvalidArgument with the
  /// remedy.
  virtual Expected<> offers(const std::string& condition) const = 0;
  /// Checks that the condition held since it was applied. Fails: kUnavailable (this machine could
  /// not keep up), and as tc does.
  virtual Expected<> check() const = 0;
  /// Returns the condition for what is not a trial: "none" where it can be had.
  virtual std::string resting_condition() const = 0;
  /// Returns the emulator that makes the network so; see NetworkFigures::emulator.
  virtual std::string emulator() const = 0;
  /// Makes faults on a link, in place of those before; none of them ends all. Fails:
  /// kInvalidArgument (it is no link that this process emulates), and as LinkEmulator::disturb.
  virtual Expected<> disturb(std::size_t link, netem::PacketFaults forward,
                             netem::PacketFaults backward);
  /// Returns what a condition is defined to do between the only two devices, the coordinator next
  /// to the first; no value if it has to be measured.
  virtual std::optional<plan::Condition> definition(const std::string& /*condition*/) const {
    return std::nullopt;
  }

 protected:
  /// Checks that a map by name has the condition. Fails: kNotFound with the nearest.
  template <typename ByName>
  static Expected<> known(const std::string& condition, const ByName& conditions) {
    if (conditions.contains(condition)) return {};
    std::vector<std::string> names;
    for (const auto& [name, value] : conditions) names.push_back(name);
    return fail(ErrorCode::kNotFound, "no network condition \"{}\"{}", condition,
                did_you_mean(condition, names));
  }
};

/// Returns the condition of a network for what is not a trial. Null is a network that cannot be
/// changed.
std::string resting_condition(const Network* network);
/// Applies a condition as Network::apply does; returns no value if nothing was measured because
/// there is no network. Fails: as Network::apply does; kInvalidArgument if there is no network and
/// `condition` is not Network::kNone.
Expected<std::optional<netem::LinkMeasurement>> apply_condition(Network* network,
                                                                const std::string& condition);
/// Applies its resting condition, if there is a network. Fails: as Network::apply() does.
Expected<> put_to_rest(Network* network);

/// The network of a test bed of this process: each device in a network namespace of its own,
/// emulated links between them.
class EmulatedNetwork final : public Network {
 public:
  /// The condition in which each link has its own, if they differ.
  static constexpr const char* kOwn = "testbed";

  /// Creates a network in which `conditions` may be applied to all links, next to "none" and kOwn.
  /// Moves the calling thread, which is the process's first and has started no others that matter,
  /// into device 0's namespace for good. Fails: kPermission (root is needed), kUnavailable (this
  /// kernel has no namespaces, TUN or tbf), kNotFound (iproute2 is missing).
  static Expected<std::unique_ptr<EmulatedNetwork>> create(const netem::Testbed& bed,
                                                           std::vector<NamedCondition> conditions);
  ~EmulatedNetwork() override;

  Expected<netem::LinkMeasurement> apply(const std::string& condition) override;
  Expected<> offers(const std::string& condition) const override;
  Expected<> check() const override;
  std::string resting_condition() const override { return kNone; }
  std::string emulator() const override;
  Expected<> disturb(std::size_t link, netem::PacketFaults forward,
                     netem::PacketFaults backward) override;
  std::optional<plan::Condition> definition(const std::string& condition) const override;

  /// Returns the device's address for all others.
  static std::string host(std::size_t device);
  /// Returns the file of the device's namespace, as long as this process lives.
  std::string place(std::size_t device) const;
  /// Moves the calling thread to a device. What it starts then is there.
  Expected<> enter(std::size_t device) const;

 private:
  struct Impl;
  explicit EmulatedNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The network of a test bed that another process holds: it has the one condition it was made with.
class JoinedNetwork final : public Network {
 public:
  /// Joins a test bed that is up. `places` are the files of the devices' namespaces. Moves the
  /// calling thread as EmulatedNetwork does. Fails: kNotFound (the test bed is gone), kPermission.
  static Expected<std::unique_ptr<JoinedNetwork>> create(std::string condition,
                                                         std::string emulator,
                                                         const std::vector<std::string>& places);
  ~JoinedNetwork() override;

  Expected<netem::LinkMeasurement> apply(const std::string& condition) override;
  Expected<> offers(const std::string& condition) const override;
  Expected<> check() const override { return {}; }
  std::string resting_condition() const override;
  std::string emulator() const override;

 private:
  struct Impl;
  explicit JoinedNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::cluster
