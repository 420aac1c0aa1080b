// How long a shard takes on an imitated device that is always equally fast, whatever disturbs the machine that imitates it.
//
//   operators, timed by the plain engine, each the first time that one of its kind and shapes is seen ──▶ a file
//   a shard's operators ──sum of what the file says, of all and up to each output──▶ SteadyPace
//
// On a machine that others use, the same shard takes a fifth longer in one minute than in the next: its own runs do not say what it would
// take if nothing disturbed them. Sums of operators that were timed once are what they are for good, and every shard of a model has the
// same of them. The file may as well come from another machine: then this one replays what that one took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/runtime/shard_runner.h"

namespace pareto::daemon {

/// Of one loaded shard. Where what there is to compute depends on more than the size of its inputs (a loop until something converges), that
/// is no imitation.
///
/// Threads: any.
class SteadyPace {
 public:
  /// Of a run with inputs of so many bytes, on a device as fast as the plain engine where its operators were timed.
  SteadyPace(const runtime::ShardProfile& profile, std::uint64_t input_bytes);

  /// Of a run with inputs of so many bytes: in proportion, a minute at most.
  Nanoseconds whole(std::uint64_t input_bytes) const;
  /// The same until it has made that output: what the operators take up to the one that makes it.
  Nanoseconds until(std::size_t output, std::uint64_t input_bytes) const;

 private:
  Nanoseconds scaled(Nanoseconds time, std::uint64_t input_bytes) const;

  Nanoseconds whole_{};
  std::vector<Nanoseconds> until_output_;
  std::uint64_t input_bytes_;
};

/// Of all operators that were ever seen, in a file (netem/FORMAT.md) that others may use at the same time: each locks it while it reads and
/// adds lines, which takes milliseconds.
///
/// Threads: any.
class OperatorPaces {
 public:
  static constexpr const char* kFirstLine = "pareto-edge operator times 1";

  /// Makes the file where there is none. Fails: kCorrupt (naming the line), kPermission, kNotFound (no folder), kExhausted (no room).
  static Expected<std::unique_ptr<OperatorPaces>> open(std::filesystem::path file);

  bool know(const std::vector<runtime::OperatorTime>& operators) const;
  /// Gives each the time that one like it had first, and segments the sums; adds those that are new to the file. Fails: as open().
  Expected<> settle(runtime::ShardProfile& profile);

 private:
  explicit OperatorPaces(std::filesystem::path file) : file_(std::move(file)) {}
  /// What others have added, and then what is new of these.
  Expected<> exchange(const std::vector<runtime::OperatorTime>& operators);

  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::map<std::string, Nanoseconds> first_;  ///< by OperatorTime::what
};

}  // namespace pareto::daemon
