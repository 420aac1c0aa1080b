// A device whose turns are given in simulated time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/device/turn_queue.h"

namespace pareto::daemon::device {

using std::chrono::milliseconds;

inline constexpr TimePoint kBegin{std::chrono::hours(1)};

inline TimePoint at(int ms) { return kBegin + milliseconds(ms); }

/// A device whose time a test tells.
class Device {
 public:
  explicit Device(std::string_view policy, int cores = 1, double busy = 1)
      : queue_(make_turn_policy(policy).value(), cores, BusyBudget({busy, cores}, kBegin)) {}

  /// Somebody of that pipeline asks for a turn.
  WaitingTurn& ask(const std::string& pipeline, WaitingTurn turn = {}) {
    turn.account = &accounts_[pipeline];
    turns_.push_back(std::make_unique<WaitingTurn>(turn));
    names_[turns_.back().get()] = pipeline;
    queue_.ask(*turns_.back());
    return *turns_.back();
  }
  /// Gives all the turns that it can. Returns whose they are.
  std::vector<std::string> give(TimePoint now) {
    std::vector<std::string> given;
    HeldTurn* held = nullptr;
    while (const WaitingTurn* const turn = queue_.next(now, held)) {
      given.push_back(names_.at(turn));
      held_[given.back()] = held;
    }
    return given;
  }
  /// Gives back the pipeline's last turn, and gives those that can be given then.
  std::vector<std::string> give_back(const std::string& pipeline, TimePoint now) {
    queue_.give_back(*held_.at(pipeline), now);
    return give(now);
  }
  /// Returns whether the pipeline's turn is to be paused.
  bool is_wanted(const std::string& pipeline) const { return held_.at(pipeline)->wanted; }
  /// Pauses the pipeline's turn, and gives those that can be given then.
  std::vector<std::string> pause(const std::string& pipeline, TimePoint now) {
    turns_.push_back(std::make_unique<WaitingTurn>(held_.at(pipeline)->turn));
    names_[turns_.back().get()] = pipeline;
    queue_.pause(*held_.at(pipeline), *turns_.back(), now);
    return give(now);
  }
  void let_go(const std::string& pipeline, TimePoint now) {
    queue_.let_go(*held_.at(pipeline), now);
  }
  /// Two greedy pipelines ask again as soon as they have computed for 10 ms. Returns how many of
  /// `turns` turns the first one got.
  int turns_of_first(int turns) {
    ask("one");
    ask("two");
    int first = 0;
    std::vector<std::string> now = give(at(0));
    for (int i = 1; i <= turns; ++i) {
      const std::string computed = now.at(0);
      first += computed == "one" ? 1 : 0;
      ask(computed);
      now = give_back(computed, at(10 * i));
    }
    return first;
  }
  TurnAccount& account(const std::string& pipeline) { return accounts_[pipeline]; }
  TurnQueue& queue() { return queue_; }

 private:
  std::map<std::string, TurnAccount> accounts_;
  std::vector<std::unique_ptr<WaitingTurn>> turns_;
  std::map<const WaitingTurn*, std::string> names_;
  std::map<std::string, HeldTurn*> held_;
  TurnQueue queue_;
};

}  // namespace pareto::daemon::device
