#include "daemon/stage/load_turns.h"

namespace pareto::daemon {

LoadTurns::Turn::Turn(LoadTurns& turns) : turns_(turns) {
  std::unique_lock lock(turns_.mutex_);
  while (turns_.holder_ != 0 && turns_.changed_.wait_until(lock, turns_.since_ + turns_.turn_) !=
                                    std::cv_status::timeout) {
  }
  turns_.since_ = std::chrono::steady_clock::now();
  number_ = turns_.holder_ = ++turns_.last_;
}

LoadTurns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  if (turns_.holder_ == number_) turns_.holder_ = 0;
  turns_.changed_.notify_one();
}

}  // namespace pareto::daemon
