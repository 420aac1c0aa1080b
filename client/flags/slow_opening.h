// Says what opening a model waits for, if that takes long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

namespace pareto::client {

/// Says what is done once it has lived for `patience`, and then every ten seconds.
///
/// Threads: one owner, who writes nothing to `err` meanwhile; its own thread ends with it.
class SlowOpening {
 public:
  SlowOpening(std::ostream& err, std::string what,
              std::chrono::milliseconds patience = std::chrono::seconds(2));

 private:
  void watch(const std::stop_token& stop);

  std::ostream& err_;
  const std::string what_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

}  // namespace pareto::client
