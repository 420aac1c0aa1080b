#include "coordinator/cluster/testbed_faults.h"

#include <signal.h>

#include <algorithm>
#include <optional>

#include "coordinator/cluster/network.h"
#include "coordinator/cluster/testbed_cluster.h"
#include "core/base/process_handle.h"

namespace pareto::cluster {
namespace {

using netem::Fault;
using netem::FaultDirection;
using netem::FaultKind;
using netem::PacketFaultKind;

/// Longest time until a killed process is gone.
constexpr std::chrono::seconds kEndOfKilled{5};

PacketFaultKind packet_kind(FaultKind kind) {
  switch (kind) {
    case FaultKind::kDelay:
      return PacketFaultKind::kDelay;
    case FaultKind::kDuplicate:
      return PacketFaultKind::kDuplicate;
    case FaultKind::kReorder:
      return PacketFaultKind::kReorder;
    case FaultKind::kCorrupt:
      return PacketFaultKind::kCorrupt;
    case FaultKind::kRepeatBytes:
      return PacketFaultKind::kRepeat;
    case FaultKind::kSwapBytes:
      return PacketFaultKind::kSwap;
    case FaultKind::kTruncate:
      return PacketFaultKind::kTruncate;
    case FaultKind::kHalfClose:
      return PacketFaultKind::kHalfClose;
    default:
      return PacketFaultKind::kDrop;
  }
}

std::shared_ptr<netem::ActivePacketFault> packet_fault(const Fault& fault, std::uint64_t seed) {
  return std::make_shared<netem::ActivePacketFault>(
      netem::PacketFault{packet_kind(fault.kind), fault.share, fault.packets, fault.delay, seed});
}

std::string described(const Fault& fault) {
  const std::string_view way =
      fault.direction == FaultDirection::kBoth ? "both ways" : netem::to_string(fault.direction);
  return fmt::format("{}: {} {}", fault.place, netem::to_string(fault.kind), way);
}

}  // namespace

std::vector<std::string> link_names(const netem::Testbed& bed) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bed.links.size(); ++i) {
    const bool star = bed.topology == netem::Topology::kStar;
    names.push_back(bed.devices[i].name + " - " + (star ? "switch" : bed.devices[i + 1].name));
  }
  return names;
}

TestbedFaults::TestbedFaults(const netem::Testbed& bed, Cluster& cluster)
    : bed_(bed), cluster_(cluster), links_(link_names(bed)) {
  for (const netem::TestbedDevice& device : bed.devices) devices_.push_back(device.name);
}

Expected<std::string> TestbedFaults::begin(std::uint64_t number, const Fault& fault) {
  if (lasting_.contains(number)) {
    return fail(ErrorCode::kInvalidArgument, "fault {} lasts already", number);
  }
  const bool of_device = netem::is_of_device(fault.kind);
  const auto& names = of_device ? devices_ : links_;
  const auto found = std::ranges::find(names, fault.place);
  if (found == names.end()) {
    return fail(ErrorCode::kNotFound, "the test bed has no {} \"{}\"",
                of_device ? "device" : "link", fault.place);
  }
  Lasting lasting{.fault = fault,
                  .place = static_cast<std::size_t>(found - names.begin()),
                  .forward = nullptr,
                  .backward = nullptr};
  if (of_device) {
    lasting.process = cluster_.local_pids()[lasting.place];
    PARETO_ASSIGN(std::string done, begin_on_device(lasting));
    if (fault.kind != FaultKind::kRestart) lasting_.emplace(number, std::move(lasting));
    return done;
  }
  if (fault.direction != FaultDirection::kBackward) {
    lasting.forward = packet_fault(fault, fault.seed);
  }
  if (fault.direction != FaultDirection::kForward) {
    lasting.backward = packet_fault(fault, fault.seed + 1);
  }
  const std::size_t link = lasting.place;
  lasting_.emplace(number, std::move(lasting));
  if (auto applied = apply(link); !applied) {
    lasting_.erase(number);
    return tl::unexpected(std::move(applied).error());
  }
  return described(fault);
}

Expected<std::string> TestbedFaults::end(std::uint64_t number) {
  const auto found = lasting_.find(number);
  if (found == lasting_.end()) {
    return fail(ErrorCode::kNotFound, "no fault {} lasts", number);
  }
  const Lasting ended = std::move(found->second);
  lasting_.erase(found);
  if (netem::is_of_device(ended.fault.kind)) return end_on_device(ended);
  PARETO_TRY(apply(ended.place));
  std::uint64_t hits = 0;
  for (const auto& one : {ended.forward, ended.backward}) hits += one ? one->hits() : 0;
  return fmt::format("{} is over, {} packet{} hit", described(ended.fault), hits,
                     hits == 1 ? "" : "s");
}

void TestbedFaults::end_all() {
  // The last one first, as they were made.
  while (!lasting_.empty()) static_cast<void>(end(lasting_.rbegin()->first));
}

Expected<std::string> TestbedFaults::begin_on_device(const Lasting& lasting) {
  const std::size_t device = lasting.place;
  const bool down = count(FaultKind::kKill, device) > 0;
  switch (lasting.fault.kind) {
    case FaultKind::kDiskFull:
      PARETO_TRY(cluster_.set_disk_full(device, true));
      return fmt::format("{}: its disk is full", devices_[device]);
    case FaultKind::kRestart:
      if (down) return fail(ErrorCode::kUnavailable, "{} is down, and stays so", devices_[device]);
      return start_again(device);
    case FaultKind::kStop:
      if (down) return fail(ErrorCode::kUnavailable, "{} is down, not stopped", devices_[device]);
      return signal(device, SIGSTOP, "stopped");
    default:
      if (down) return fmt::format("{} is down already", devices_[device]);
      return signal(device, SIGKILL, "killed");
  }
}

Expected<std::string> TestbedFaults::end_on_device(const Lasting& lasting) {
  const std::size_t device = lasting.place;
  const std::string& name = devices_[device];
  if (count(lasting.fault.kind, device) > 0) {
    return fmt::format("{}: another {} lasts", name, netem::to_string(lasting.fault.kind));
  }
  if (lasting.fault.kind == FaultKind::kDiskFull) {
    PARETO_TRY(cluster_.set_disk_full(device, false));
    return fmt::format("{}: its disk has room again", name);
  }
  if (lasting.fault.kind == FaultKind::kKill) return start_again(device);
  if (count(FaultKind::kKill, device) > 0) return fmt::format("{} is down", name);
  if (cluster_.local_pids()[device] != lasting.process) {
    return fmt::format("{}: process {} was started again meanwhile", name, lasting.process);
  }
  return signal(device, SIGCONT, "goes on");
}

Expected<std::string> TestbedFaults::signal(std::size_t device, int number,
                                            const char* done) const {
  const int pid = cluster_.local_pids()[device];
  // A child that has ended keeps its number until it is started again.
  PARETO_ASSIGN(const ProcessHandle process, ProcessHandle::open(pid));
  PARETO_TRY(process.signal(number));
  if (number == SIGKILL) PARETO_TRY(process.wait_for_end(deadline_after(kEndOfKilled)));
  return fmt::format("{}: process {} {}", devices_[device], pid, done);
}

Expected<std::string> TestbedFaults::start_again(std::size_t device) {
  const TimePoint start = std::chrono::steady_clock::now();
  PARETO_TRY(cluster_.start_again(device));
  PARETO_TRY(publish_testbed(bed_, cluster_));
  return fmt::format("{}: process {} started, ready after {:.1f} s", devices_[device],
                     cluster_.local_pids()[device],
                     to_seconds(std::chrono::steady_clock::now() - start));
}

std::size_t TestbedFaults::count(FaultKind kind, std::size_t device) const {
  return static_cast<std::size_t>(std::ranges::count_if(lasting_, [&](const auto& one) {
    return one.second.fault.kind == kind && one.second.place == device;
  }));
}

Expected<> TestbedFaults::apply(std::size_t link) {
  netem::PacketFaults forward;
  netem::PacketFaults backward;
  for (const auto& [number, one] : lasting_) {
    if (netem::is_of_device(one.fault.kind) || one.place != link) continue;
    if (one.forward) forward.push_back(one.forward);
    if (one.backward) backward.push_back(one.backward);
  }
  if (cluster_.network() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "the test bed has no network of its own");
  }
  return cluster_.network()->disturb(link, std::move(forward), std::move(backward));
}

}  // namespace pareto::cluster
