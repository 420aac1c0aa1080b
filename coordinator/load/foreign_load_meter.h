// Watches what others do on the machines and devices of a measurement while it goes on.
//
//   Observe of each device, /proc/stat here
//       ──ForeignLoadMeter──▶ ForeignLoad by machine, Company by device ──▶ doctor, PassRecord
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/results/record.h"
#include "core/base/clock.h"
#include "core/base/machine_load.h"
#include "core/transport/place.h"

namespace pareto::load {

/// The machine of this process at one moment.
struct OwnReading {
  Nanoseconds clock{};  ///< time of the machine's monotonic clock
  Nanoseconds cpu{};    ///< processor time of this process
  MachineLoad load{};
};
/// Reads it now. Threads: any.
OwnReading read_own_load();

/// The devices' answers at one moment, in their order; no value means that a device did not answer.
struct LoadReading {
  OwnReading own;
  std::vector<std::optional<cluster::Observation>> devices;
};

/// Returns the share that others took of each machine between two readings. Devices with the boot
/// id of `own_boot` are on this machine, those that have one boot id in common on one machine. A
/// machine whose times are not known, or a device that was restarted meanwhile, is left out.
std::vector<results::ForeignLoad> foreign_load(const std::vector<cluster::DeviceInfo>& infos,
                                               const std::vector<std::string>& names,
                                               const std::string& own_boot,
                                               const LoadReading& before, const LoadReading& after);
/// Returns that share of each device's machine, in their order; no value means that it is not
/// known.
std::vector<std::optional<double>> foreign_shares(const std::vector<cluster::DeviceInfo>& infos,
                                                  const std::vector<std::string>& names,
                                                  const std::string& own_boot,
                                                  const LoadReading& before,
                                                  const LoadReading& after);

/// Asks all devices at the same time. A device that does not answer is not asked again until
/// start().
///
/// Threads: one owner. The devices outlive it.
class ForeignLoadMeter {
 public:
  using ReadOwn = std::function<OwnReading()>;

  /// Watches all devices of a cluster.
  explicit ForeignLoadMeter(const cluster::Cluster& cluster, ReadOwn own = read_own_load);
  explicit ForeignLoadMeter(std::vector<cluster::DaemonClient*> devices,
                            ReadOwn own = read_own_load);

  /// Begins to watch, and forgets what it saw before.
  void start();
  /// Reads again, unless it did so in the last two seconds.
  void look();
  /// Reads for the last time.
  void finish();

  /// Returns the loads between start() and the last reading.
  std::vector<results::ForeignLoad> others() const;
  /// Returns the same by device, in their order; no value means that its machine's is not known.
  std::vector<std::optional<double>> shares() const;
  /// Returns the devices that had company at one reading at least.
  const std::vector<results::Company>& company() const { return company_; }

 private:
  LoadReading read();
  /// Returns what the devices said of themselves, and their names.
  std::pair<std::vector<cluster::DeviceInfo>, std::vector<std::string>> asked() const;

  std::vector<cluster::DaemonClient*> devices_;
  ReadOwn read_own_;
  std::string own_boot_ = transport::this_place().boot;
  std::vector<bool> silent_;
  LoadReading first_;
  LoadReading last_;
  std::vector<results::Company> company_;
};

}  // namespace pareto::load
