// The network between the devices of an experiment, where it can be made worse on purpose.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/link_measurement.h"

namespace pareto::client {

struct NamedCondition {
  std::string name;  ///< "lte"; never "none"
  Condition condition;
};

/// Threads: one owner.
class Network {
 public:
  virtual ~Network() = default;

  /// From now on links have that condition; "none" is a network left as it is. Returns what it was measured to be like when it was first
  /// applied. Fails: kNotFound (no such condition), kUnavailable (the link is not what was asked for), kTimeout.
  virtual Expected<netem::LinkMeasurement> apply(const std::string& condition) = 0;
  /// Whether the condition held since it was applied. Fails: kUnavailable (this machine could not keep up), and as tc does.
  virtual Expected<> check() const = 0;
};

/// Two devices on this machine, each in a network namespace of its own, and an emulated link between them:
///
///   coordinator, device 0 ══ condition, forward ══▶ device 1      and back
class EmulatedNetwork final : public Network {
 public:
  static constexpr std::size_t kDevices = 2;

  /// Moves the calling thread, which is the process's first and has started no others yet, into device 0's namespace for good. Fails:
  /// kPermission (root is needed), kUnavailable (this kernel has no namespaces, TUN or tbf), kNotFound (iproute2 is missing).
  static Expected<std::unique_ptr<EmulatedNetwork>> create(std::vector<NamedCondition> conditions);
  ~EmulatedNetwork() override;

  Expected<netem::LinkMeasurement> apply(const std::string& condition) override;
  Expected<> check() const override;

  /// The device's address on the link.
  static std::string host(std::size_t device);
  /// Moves the calling thread to a device. What it starts then is there.
  Expected<> enter(std::size_t device) const;

 private:
  struct Impl;
  explicit EmulatedNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::client
