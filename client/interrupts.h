// Ctrl-C and SIGTERM as a flag.
#pragma once

#include <atomic>
#include <memory>

#include "client/command.h"
#include "core/base/file_descriptor.h"

namespace pareto::client {

/// Until watch() is called, signals end the process as ever. Afterwards the first SIGINT or SIGTERM sets the flag, and a second
/// one ends the process.
///
/// Threads: one owner. A thread of its own waits for the signals; it ends with this object.
class Interrupts final : public StopSignal {
 public:
  Interrupts();
  ~Interrupts() override;
  const std::atomic<bool>& watch() override;
  int descriptor() const override { return told_.get(); }

 private:
  class Watcher;
  std::atomic<bool> stop_{false};
  FileDescriptor told_;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace pareto::client
