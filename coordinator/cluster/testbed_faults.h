// Faults of a test bed that this process holds: made, and undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "netem/fault_plan.h"
#include "netem/packet_faults.h"
#include "netem/testbed.h"

namespace pareto::cluster {

/// Returns the links of a test bed by both ends: "pi-1 - pi-2", "pi-1 - switch".
std::vector<std::string> link_names(const netem::Testbed& bed);

/// The faults that are made now, by their numbers.
///
/// Threads: the one that made the cluster, which outlives this.
class TestbedFaults {
 public:
  TestbedFaults(const netem::Testbed& bed, Cluster& cluster);
  ~TestbedFaults() { end_all(); }
  TestbedFaults(const TestbedFaults&) = delete;
  TestbedFaults& operator=(const TestbedFaults&) = delete;

  /// Begins a fault of that number, whose place and direction are chosen. Returns what was done, in
  /// words. Fails: kNotFound (no such place), kInvalidArgument (the number is in use; the test bed
  /// does not have what it takes, with the remedy), kUnavailable.
  Expected<std::string> begin(std::uint64_t number, const netem::Fault& fault);
  /// Ends it: its processes go on, or are started again; its link is as it was. Returns what was
  /// done. Fails: kNotFound (no fault of that number lasts), as Cluster::start_again.
  Expected<std::string> end(std::uint64_t number);
  /// Ends all that last. What fails is left.
  void end_all();

 private:
  struct Lasting {
    netem::Fault fault;
    std::size_t place = 0;  ///< number of the device or link
    int process = 0;        ///< that of the device when the fault began
    std::shared_ptr<netem::ActivePacketFault> forward;
    std::shared_ptr<netem::ActivePacketFault> backward;
  };

  Expected<std::string> begin_on_device(const Lasting& lasting);
  Expected<std::string> end_on_device(const Lasting& lasting);
  /// Gives a link the faults that last.
  Expected<> apply(std::size_t link);
  Expected<std::string> signal(std::size_t device, int number, const char* done) const;
  Expected<std::string> start_again(std::size_t device);
  /// Returns how many faults of that kind last on a device.
  std::size_t count(netem::FaultKind kind, std::size_t device) const;

  const netem::Testbed& bed_;
  Cluster& cluster_;
  std::vector<std::string> devices_;
  std::vector<std::string> links_;
  std::map<std::uint64_t, Lasting> lasting_;
};

}  // namespace pareto::cluster
