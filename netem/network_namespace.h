// Network stacks of their own on one machine: what stands for another machine.
#pragma once

#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::netem {

/// Held open; one that create() made ends with the last of its holders, processes and sockets, also
/// after kill -9.
///
/// Threads: any; a thread that enters stays in, and so do the threads and processes that it starts
/// afterwards.
class NetworkNamespace {
 public:
  /// Makes a new one, its loopback up. Fails: kPermission (root is needed), kUnavailable (the
  /// kernel has none).
  static Expected<NetworkNamespace> create();
  /// Opens one of `ip netns`. Fails: kNotFound, kPermission.
  static Expected<NetworkNamespace> open(const std::string& name);

  /// Opens the namespace of a file: "/proc/PID/ns/net". Fails: kNotFound, kPermission,
  /// kInvalidArgument (it is something else).
  static Expected<NetworkNamespace> open_file(const std::string& path);

  /// Returns another holder of the same namespace. Fails: kExhausted.
  Expected<NetworkNamespace> copy() const;

  /// Returns a file that stands for it while this process holds it: for programs (`ip link … netns
  /// PATH`).
  std::string path() const;

  /// Moves the calling thread. Fails: kPermission.
  Expected<> enter() const;
  /// Does the work on a thread inside, and waits for it. Sockets opened there stay inside wherever
  /// they are used from. Fails: kPermission, and as the work does.
  Expected<> run(const std::function<Expected<>()>& work) const;

 private:
  explicit NetworkNamespace(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace pareto::netem
