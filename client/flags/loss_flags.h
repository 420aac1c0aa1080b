// What `deploy` does if a device is lost: --on-loss and --retry.
#pragma once

#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pareto::client {

enum class OnLoss {
  kFail,      ///< the stream ends
  kWait,      ///< it goes on once the device is back
  kFailover,  ///< it goes on with the devices that are left
};

struct LossPolicy {
  OnLoss on_loss = OnLoss::kWait;
  Nanoseconds retry{};  ///< time for which a pipeline is opened again; 0 means not at all
};

struct LossFlags {
  std::optional<std::string> on_loss;
  std::optional<std::string> retry;

  void add_to(CLI::App& app);
  bool is_failover() const { return on_loss == "failover"; }
  /// Reads both. `own_daemons`: this command started the devices, so nobody starts them again.
  /// Fails: kInvalidArgument, naming the flag.
  Expected<LossPolicy> read(bool own_daemons) const;
};

}  // namespace pareto::client
