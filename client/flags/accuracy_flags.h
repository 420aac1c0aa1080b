// The flags that make accuracy an objective of plans: --dataset with what goes with it, and
// --min-accuracy.
#pragma once

#include <string>

#include "client/command.h"
#include "client/flags/data_flags.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"

namespace pareto::client {

/// The values of --dataset, the flags that go with it, and --min-accuracy.
///
/// Threads: one owner.
class AccuracyFlags {
 public:
  void add_to(CLI::App& app);
  /// Returns what they say, with absolute paths: nothing without --dataset. Fails: kInvalidArgument
  /// (--min-accuracy is no share, or stands without --dataset).
  Expected<sweep::AccuracyOptions> read() const;

 private:
  DataFlags data_{.flag = "--dataset"};
  std::string least_;
};

}  // namespace pareto::client
