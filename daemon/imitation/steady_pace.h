// Times that a shard takes on an imitated device. They stay the same, whatever disturbs the machine
// that imitates it.
//
//   operators, timed by the plain engine when their kind and shapes are first seen ──▶ a file
//   a shard's operators ──sum of their times in the file──▶ SteadyPace
//
// On a machine that others use, a shard may take a fifth longer in one minute than in the next. Its
// own runs do not say what it takes on an undisturbed machine. An operator is timed once, and that
// time is kept for good. All shards of a model have the same operators, so their sums agree. The
// file may come from another machine; this one then replays that machine's times.
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
#include "runtime/shard_runner.h"

namespace pareto::daemon {

/// Times of one loaded shard. They depend only on the size of its inputs. A shard whose work
/// depends on more, such as a loop until something converges, is imitated badly.
///
/// Threads: any.
class SteadyPace {
 public:
  /// Sums the times of a profile, made with inputs of `input_bytes`. The device is as fast as the
  /// plain engine was when its operators were timed.
  SteadyPace(const runtime::ShardProfile& profile, std::uint64_t input_bytes);

  /// Returns the time of a run with inputs of that size: in proportion to it, and at most a minute.
  Nanoseconds whole(std::uint64_t input_bytes) const;
  /// Returns the time until a run has computed `output`: the operators up to the one that makes it.
  Nanoseconds until(std::size_t output, std::uint64_t input_bytes) const;

 private:
  Nanoseconds scaled(Nanoseconds time, std::uint64_t input_bytes) const;

  Nanoseconds whole_{};
  std::vector<Nanoseconds> until_output_;
  std::uint64_t input_bytes_;
};

/// Times of all operators ever seen, in a file (netem/FORMAT.md). Several processes may use the
/// file at a time. Each locks it while it reads and adds lines, for milliseconds.
///
/// Threads: any.
class OperatorPaces {
 public:
  static constexpr const char* kFirstLine = "pareto-edge operator times 1";

  /// Opens the file, or makes it. Fails: kCorrupt (with the line), kPermission, kNotFound (no
  /// folder), kExhausted (no room).
  static Expected<std::unique_ptr<OperatorPaces>> open(std::filesystem::path file);

  /// Returns whether all these operators have a time.
  bool know(const std::vector<runtime::OperatorTime>& operators) const;
  /// Gives each operator its first measured time, and each segment their sum. Operators that are
  /// new are added to the file. Fails: as open().
  Expected<> settle(runtime::ShardProfile& profile);

 private:
  explicit OperatorPaces(std::filesystem::path file) : file_(std::move(file)) {}
  /// Reads what others have added to the file, then adds those of `operators` that are new.
  Expected<> exchange(const std::vector<runtime::OperatorTime>& operators);

  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::map<std::string, Nanoseconds> first_;  ///< first time, by OperatorTime::what
};

}  // namespace pareto::daemon
