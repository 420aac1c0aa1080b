// Those who want a command to stop: the user, or a part of the command.
#pragma once

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client::commands {

/// Joins the user's signal to stop with requests of the program. Threads: request() from any.
class StopRequests {
 public:
  /// `signal` becomes readable when the user wants to stop; -1: never. It outlives this.
  static Expected<StopRequests> of(int signal);
  /// Returns a descriptor that is readable once anybody wants to stop.
  int descriptor() const { return all_.get(); }
  void request() const;

 private:
  StopRequests(FileDescriptor all, FileDescriptor own)
      : all_(std::move(all)), own_(std::move(own)) {}

  FileDescriptor all_;
  FileDescriptor own_;
};

}  // namespace pareto::client::commands
