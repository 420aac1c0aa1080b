// plan --train: predicts steps of training in place of requests.
#pragma once

#include <string>

#include "client/command.h"
#include "client/commands/planning.h"
#include "core/base/error.h"

namespace CLI {
class App;
}

namespace pareto::client::commands {

/// Values of flags that `plan` has next to --train.
struct PlanValues {
  std::string networks;  ///< text of --network
  std::string save;      ///< file for the fastest plan; empty: none
  bool json = false;
};

/// The flags of plan --train, and the prediction that they ask for.
///
/// Threads: one owner.
class PlanTraining {
 public:
  /// Adds --train and the flags that only it has. Others of the command, which searches have, do
  /// not go with it. It comes after all of them.
  void add_to(CLI::App& app);
  bool is_wanted() const { return train_; }
  /// Profiles training on each device, probes the links, and prints every plan that
  /// `sweep --train` would measure, the fastest first. Fails: as sweep::make_run() and
  /// sweep::predict_training() do, and if no plan has a prediction.
  Expected<int> run(Context& context, PlanningFlags& flags, const PlanValues& values) const;

 private:
  bool train_ = false;
  std::string loss_ = "cross-entropy";
  std::string micro_batch_ = "none";
};

}  // namespace pareto::client::commands
