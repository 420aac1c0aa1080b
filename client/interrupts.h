// Ctrl-C, SIGTERM and a terminal that goes (SIGHUP) as a flag.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "client/command.h"
#include "core/base/file_descriptor.h"

namespace pareto::client {

/// Turns signals into a flag. Until watch() is called, signals end the process as usual. Afterwards
/// the first SIGINT, SIGTERM or SIGHUP sets the flag, and a further SIGINT or SIGTERM ends the
/// process. A SIGHUP that is ignored (nohup) stays ignored. After leave_at_once() the first one
/// prints a sentence and ends the process. A shell then sees that the signal ended it, and ends its
/// loop.
///
/// Threads: one owner. A thread of its own waits for the signals; it ends with this object.
class Interrupts final : public StopSignal {
 public:
  Interrupts();
  ~Interrupts() override;
  const std::atomic<bool>& watch() override;
  int descriptor() const override { return told_.get(); }
  void announce(const char* sentence) override { set({sentence, false}); }
  void leave_at_once(const char* sentence) override { set({sentence, true}); }

 private:
  class Watcher;
  /// The answer to the first signal.
  struct Answer {
    const char* sentence = nullptr;
    bool ends = false;  ///< the process ends as by the signal itself
  };
  void set(Answer answer);
  Answer answer();

  std::atomic<bool> stop_{false};
  FileDescriptor told_;  ///< an event, which stays readable
  std::mutex mutex_;
  Answer answer_;  ///< answer, under the mutex
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace pareto::client
