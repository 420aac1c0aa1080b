// The flags of a deployment that another program may go on with: --log, --standby, --requests.
//
//   --log FILE            each answer is a line there; the same command goes on where one ended
//   --log FILE --standby  waits until the program that answers is gone, and goes on with the rest
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/flags/device_flags.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/load/answer_log.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client {

struct LogFlags {
  std::string log;
  bool standby = false;
  std::string requests;
  bool growing = false;

  void add_to(CLI::App& app);
  /// Checks the flags next to the requests of the command line. Fails: kInvalidArgument.
  Expected<> check(const std::vector<std::string>& files) const;
  /// Opens the list of requests; a descriptor of -1: there is none. Fails: as files do.
  Expected<FileDescriptor> open_requests() const;
};

/// A deployment with a log: its devices, and the log with a term begun.
struct LoggedDevices {
  cluster::Cluster cluster;
  std::unique_ptr<load::AnswerLog> log;  ///< null: all requests have their answers already
};

/// Connects to the devices, takes them for the next term of the log's lease, and begins that term.
/// A standby waits before that until nobody holds the lease any more. `plan_digest`: what tells the
/// plan from others. `on_end`: as AnswerLog::begin() takes it. Fails: as DeviceFlags::connect() and
/// AnswerLog::begin(); kInvalidArgument (the log is another plan's, no devices were named, or they
/// know no leases).
Expected<LoggedDevices> connect_with_log(Context& context, DeviceFlags& devices, int count,
                                         const NeededDevices& needed, const LogFlags& flags,
                                         const std::string& plan_digest,
                                         const std::function<void()>& on_end);

}  // namespace pareto::client
