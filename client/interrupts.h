// Ctrl-C, SIGTERM and a terminal that goes (SIGHUP) as a flag.
#pragma once

#include <atomic>
#include <memory>

#include "client/command.h"
#include "core/base/file_descriptor.h"

namespace pareto::client {

/// Until watch() is called, signals end the process as ever. Afterwards the first SIGINT, SIGTERM or SIGHUP sets the flag, and a
/// SIGINT or SIGTERM after it ends the process. A SIGHUP that is ignored (nohup) stays so.
///
/// Threads: one owner. A thread of its own waits for the signals; it ends with this object.
class Interrupts final : public StopSignal {
 public:
  Interrupts();
  ~Interrupts() override;
  const std::atomic<bool>& watch() override;
  int descriptor() const override { return told_.get(); }
  void announce(const char* sentence) override { sentence_ = sentence; }

 private:
  class Watcher;
  std::atomic<bool> stop_{false};
  FileDescriptor told_;
  std::atomic<const char*> sentence_{nullptr};
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace pareto::client
