// The plug of the device scheduler: which of those who wait gets the next turn to compute.
//
// A policy is one file in policies/ and one line in builtin_policies.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::daemon::device {

/// A pipeline as the scheduler knows it: all of its stages on this device share one.
struct TurnAccount {
  double weight = 1;        ///< its share of the cores, relative to other pipelines'; above 0
  int turns = 0;            ///< turns that it waits for or holds
  double turn = 0;          ///< seconds of cores that its turns take, on average; 0: not known
  double virtual_time = 0;  ///< seconds of cores that it took, divided by its weight; of `fair`
};

/// A turn that somebody waits for.
struct WaitingTurn {
  TurnAccount* account = nullptr;
  int cores = 1;
  int priority = 0;             ///< more is sooner
  Deadline deadline{};          ///< after it the result is of no use
  TimePoint arrived{};          ///< when the request came to this device
  const void* alone = nullptr;  ///< what only one turn at a time may use; null: nothing
  bool elsewhere = false;       ///< an accelerator computes it, and its cores wait
  bool can_pause = false;       ///< once it computes it can be paused soon
  bool resumes = false;         ///< it was paused: what it uses alone it still has
  double taken = 0;             ///< seconds of cores that it took before
  std::uint64_t number = 0;     ///< counts those who asked
};

/// An order of those who wait, and what it has to remember for that.
///
/// Threads: one at a time.
class TurnPolicy {
 public:
  virtual ~TurnPolicy() = default;

  /// Returns whether `one` gets its turn before `other`. It is a strict order of all who wait.
  virtual bool before(const WaitingTurn& one, const WaitingTurn& other) const = 0;

  /// Returns whether `held`, which has its cores for `core_seconds` now, is paused if `waiting`
  /// wants them. If so, `waiting` is before `held` once that has asked again.
  virtual bool interrupts(const WaitingTurn& waiting, const WaitingTurn& held,
                          double core_seconds) const = 0;

  // What happens to an account, in this order:
  virtual void asks(TurnAccount& /*account*/) {}  ///< called before its `turns` grows
  virtual void gets(TurnAccount& /*account*/) {}
  /// Called when a turn is given back: its cores times the seconds for which it held them.
  virtual void took(TurnAccount& /*account*/, double /*core_seconds*/) {}
};

/// Returns whether `one` came to this device before `other`.
bool came_before(const WaitingTurn& one, const WaitingTurn& other);

/// A policy in the list.
struct TurnPolicyEntry {
  std::string_view name;     ///< "fair"
  std::string_view summary;  ///< what it does, as a part of a sentence
  std::unique_ptr<TurnPolicy> (*make)();
};

inline constexpr std::string_view kDefaultTurnPolicy = "fair";

/// Returns every policy, the default first.
std::span<const TurnPolicyEntry> builtin_turn_policies();
/// Returns their names, in that order.
std::vector<std::string> turn_policy_names();
/// Makes a policy. Fails: kInvalidArgument, with the nearest name.
Expected<std::unique_ptr<TurnPolicy>> make_turn_policy(std::string_view name);

}  // namespace pareto::daemon::device
