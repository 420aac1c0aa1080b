#include "netem/interface_emulation.h"

#include <net/if.h>

#include <optional>
#include <utility>

#include "core/base/text.h"
#include "netem/emulation_record.h"
#include "netem/network_namespace.h"
#include "netem/rate_changer.h"
#include "netem/traffic_control.h"

namespace pareto::netem {
namespace {

/// Beyond an IP packet: Ethernet and a VLAN.
constexpr std::uint64_t kLinkHeaderBytes = 18;

/// Makes the name from the interface's number, so that it is known without a record.
std::string ifb_of(unsigned index) { return fmt::format("{}{}", kIfbPrefix, index); }

/// Returns the index of an interface. A name becomes an argument of programs, and of a file's name.
Expected<unsigned> index_of(const std::string& interface) {
  const bool odd = interface.empty() || interface.size() >= IFNAMSIZ || interface[0] == '-' ||
                   interface == "." || interface == ".." ||
                   interface.find_first_of("/: \t\n") != std::string::npos;
  if (odd) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not the name of an interface", interface);
  }
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index != 0) return index;
  return fail(ErrorCode::kNotFound, "no interface \"{}\" (ip link shows what there is)", interface);
}

/// Returns whether the filters of an interface's ingress are those that lead to the device, or none
/// yet.
bool leads_to(const std::string& filters, const std::string& ifb) {
  return filters.find_first_not_of(" \n") == std::string::npos ||
         filters.find("to device " + ifb + ")") != std::string::npos;
}

/// Takes back what there still is of it, all that can be. Fails with the first that could not.
Expected<> undo(const EmulationRecord& record) {
  Expected<> result;
  const auto attempt = [&](const Expected<>& done) {
    if (result && !done) result = done;
  };
  if (!is_of_this_boot(record)) return result;
  // 0 is an interface that is not there.
  if (record.index != 0 && ::if_nametoindex(record.interface.c_str()) == record.index) {
    const auto queues = queues_of(record.interface);
    if (!queues) return tl::unexpected(queues.error());
    if (is_our_handle(queues->root_handle)) attempt(run_tc(remove_command(record.interface)));
    if (queues->has_ingress && !record.ifb.empty()) {
      const auto filters = ingress_filters(record.interface);
      if (filters && leads_to(*filters, record.ifb)) {
        attempt(run_tc(remove_ingress_command(record.interface)));
      }
    }
    if (record.most_segments) attempt(set_most_segments(record.interface, *record.most_segments));
    if (record.joins_incoming) {
      attempt(set_joins_incoming(record.interface, *record.joins_incoming));
    }
  }
  if (!record.ifb.empty() && ::if_nametoindex(record.ifb.c_str()) != 0) {
    attempt(run_tc({"ip", "link", "del", "dev", record.ifb}));
  }
  return result;
}

/// Returns what can be said of an interface whose record is garbage.
Expected<EmulationRecord> guessed(const std::string& interface) {
  PARETO_ASSIGN(EmulationRecord record, record_of_this_process());
  record.interface = interface;
  record.index = ::if_nametoindex(interface.c_str());
  if (record.index != 0) record.ifb = ifb_of(record.index);
  return record;
}

/// Takes it back and forgets it.
Expected<> clear(const RecordFolder& records, const RecordFolder::Entry& entry) {
  auto record = entry.record;
  if (!record) record = guessed(entry.interface);
  PARETO_TRY(record);
  PARETO_TRY(with_context(undo(*record), "clearing {}", entry.interface));
  records.remove(entry.interface);
  return {};
}

EmulationState state_of(const RecordFolder::Entry& entry) {
  if (!entry.record) return EmulationState::kUnreadable;
  if (entry.record->kept) {
    return is_of_this_boot(*entry.record) ? EmulationState::kKept : EmulationState::kStale;
  }
  return owner_lives(*entry.record) ? EmulationState::kHeld : EmulationState::kStale;
}

Expected<> clear_unless_held(const RecordFolder& records, const RecordFolder::Entry& entry) {
  if (state_of(entry) == EmulationState::kHeld) {
    return fail(ErrorCode::kUnavailable, "process {} emulates a network on {}: end it first",
                entry.record->pid, entry.interface);
  }
  return clear(records, entry);
}

/// Nobody else's queues are there.
Expected<> check_free(const std::string& interface, bool with_ingress) {
  PARETO_ASSIGN(const DeviceQueues queues, queues_of(interface));
  // The kernel's own have no number.
  if (!queues.root_handle.empty() && queues.root_handle != "0:") {
    return fail(ErrorCode::kInvalidArgument,
                "{0} has a queue already, {1} {2}, which somebody has put there: take it away with "
                "tc qdisc del dev {0} root",
                interface, queues.root_kind, queues.root_handle);
  }
  if (with_ingress && queues.has_ingress) {
    return fail(ErrorCode::kInvalidArgument,
                "{0} has filters for what comes in already, which somebody has put there: take "
                "them away with tc qdisc del dev {0} ingress (or clsact)",
                interface);
  }
  return {};
}

}  // namespace

/// The emulation of one interface, and its record in the folder.
///
/// Threads: as InterfaceEmulation.
class InterfaceEmulation::Impl {
 public:
  Impl(EmulationRecord record, std::filesystem::path folder, plan::Condition condition,
       std::uint64_t largest_packet_bytes)
      : record_(std::move(record)),
        folder_(std::move(folder)),
        condition_(std::move(condition)),
        largest_packet_bytes_(largest_packet_bytes) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): without memory nothing is taken back.
  ~Impl() { static_cast<void>(end()); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Starts after the record is written.
  Expected<> start() {
    const std::string& interface = record_.interface;
    if (record_.most_segments) PARETO_TRY(set_most_segments(interface, 1));
    if (record_.joins_incoming) PARETO_TRY(set_joins_incoming(interface, false));
    PARETO_TRY(control(interface, at_first(condition_.forward)));
    if (!record_.ifb.empty()) {
      PARETO_TRY(run_tc({"ip", "link", "add", "name", record_.ifb, "type", "ifb"}));
      PARETO_TRY(run_tc({"ip", "link", "set", "dev", record_.ifb, "addrgenmode", "none", "up"}));
      PARETO_TRY(control(record_.ifb, at_first(condition_.backward)));
      for (const TcCommand& command : ingress_commands(interface, record_.ifb)) {
        PARETO_TRY(run_tc(command));
      }
    }
    follow(forward_, interface, condition_.forward);
    follow(backward_, record_.ifb, condition_.backward);
    return {};
  }

  Expected<> keep() {
    if (!condition_.forward.trace.empty() || !condition_.backward.trace.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "a condition that changes over time takes a process that changes it");
    }
    EmulationRecord kept = record_;
    kept.kept = true;
    PARETO_ASSIGN(const RecordFolder records, RecordFolder::hold(folder_));
    PARETO_TRY(records.write(kept));
    record_ = std::move(kept);
    return {};
  }

  /// Does it once.
  Expected<> end() {
    forward_.reset();
    backward_.reset();
    if (record_.kept || std::exchange(ended_, true)) return {};
    // Before the folder is held, which others may keep from us: while the record names this
    // process, the interface is its own.
    auto done = undo(record_);
    const auto records = RecordFolder::hold(folder_);
    if (done && records) {
      records->remove(record_.interface);
      return {};
    }
    if (records) {
      // Nobody's any more: this process may live on, and others must be free to clear it.
      record_.pid = 0;
      static_cast<void>(records->write(record_));
    } else if (done) {
      done = tl::unexpected(records.error());
    }
    return fail(done.error().code,
                "what was done to {0} is not taken back, or still recorded: {1}: clear it with "
                "paretoctl netem clear --interface {0}",
                record_.interface, done.error().message);
  }

  Expected<> check() const {
    for (const auto& changer : {&forward_, &backward_}) {
      if (*changer) PARETO_TRY((*changer)->check());
    }
    return {};
  }

 private:
  Expected<> control(const std::string& device, const plan::LinkDirection& direction) const {
    return control_traffic(device, direction, largest_packet_bytes_);
  }
  void follow(std::optional<RateChanger>& changer, const std::string& device,
              const plan::LinkDirection& direction) {
    changer.emplace(
        direction, RateChanger::Follows::kRateAndDelay,
        [this, device](const plan::LinkDirection& now) { return control(device, now); });
  }

  EmulationRecord record_;
  const std::filesystem::path folder_;
  const plan::Condition condition_;
  const std::uint64_t largest_packet_bytes_;
  std::optional<RateChanger> forward_;
  std::optional<RateChanger> backward_;
  bool ended_ = false;
};

Expected<InterfaceEmulation> InterfaceEmulation::apply(const std::string& interface,
                                                       const plan::Condition& condition,
                                                       const std::string& name,
                                                       const std::filesystem::path& folder) {
  PARETO_ASSIGN(EmulationRecord record, record_of_this_process());
  PARETO_ASSIGN(record.index, index_of(interface));
  PARETO_ASSIGN(const std::uint32_t mtu, mtu_of(interface));
  record.interface = interface;
  record.name = name;
  const bool with_ingress = does_something(condition.backward);
  if (with_ingress) record.ifb = ifb_of(record.index);
  std::unique_ptr<Impl> impl;
  {
    PARETO_ASSIGN(const RecordFolder records, RecordFolder::hold(folder));
    if (const auto before = records.find(interface)) {
      PARETO_TRY(clear_unless_held(records, *before));
    }
    PARETO_TRY(check_free(interface, with_ingress));
    if (condition.forward.varies_by_packet()) {
      PARETO_ASSIGN(record.most_segments, most_segments(interface));
    }
    if (condition.backward.varies_by_packet()) {
      // A device that cannot join packets need not be told.
      const auto joins = joins_incoming(interface);
      if (joins && *joins) record.joins_incoming = true;
    }
    PARETO_TRY(with_context(records.write(record), "recording the emulation"));
    impl = std::make_unique<Impl>(std::move(record), folder, condition, mtu + kLinkHeaderBytes);
  }
  // From here on its end takes it back.
  PARETO_TRY(impl->start());
  return InterfaceEmulation(std::move(impl));
}

InterfaceEmulation::InterfaceEmulation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InterfaceEmulation::~InterfaceEmulation() = default;
InterfaceEmulation::InterfaceEmulation(InterfaceEmulation&& other) noexcept = default;

Expected<> InterfaceEmulation::keep() { return impl_->keep(); }
Expected<> InterfaceEmulation::check() const { return impl_->check(); }
Expected<> InterfaceEmulation::end() { return impl_->end(); }

std::string_view to_string(EmulationState state) {
  switch (state) {
    case EmulationState::kKept:
      return "kept";
    case EmulationState::kHeld:
      return "held";
    case EmulationState::kStale:
      return "stale";
    case EmulationState::kUnreadable:
      break;
  }
  return "unreadable";
}

Expected<> check_emulations(const std::filesystem::path& folder) {
  PARETO_ASSIGN(const RecordFolder records, RecordFolder::hold(folder));
  return records.check_writable();
}

Expected<std::vector<InterfaceStatus>> list_emulations(const std::filesystem::path& folder) {
  PARETO_ASSIGN(const RecordFolder records, RecordFolder::hold(folder));
  std::vector<InterfaceStatus> all;
  for (const RecordFolder::Entry& entry : records.list()) {
    InterfaceStatus status;
    status.interface = entry.interface;
    status.state = state_of(entry);
    if (entry.record) {
      status.name = entry.record->name;
      status.owner = entry.record->pid;
      status.ifb = entry.record->ifb;
    }
    all.push_back(std::move(status));
  }
  return all;
}

Expected<> clear_emulation(const std::string& interface, const std::filesystem::path& folder) {
  PARETO_ASSIGN(const RecordFolder records, RecordFolder::hold(folder));
  // Looked for among those there are: a name makes no path.
  for (const RecordFolder::Entry& entry : records.list()) {
    if (entry.interface == interface) return clear_unless_held(records, entry);
  }
  return fail(ErrorCode::kNotFound, "no network is emulated on \"{}\"", interface);
}

Expected<std::vector<std::string>> clear_stale(const std::filesystem::path& folder) {
  PARETO_ASSIGN(const RecordFolder records, RecordFolder::hold(folder));
  std::vector<std::string> cleared;
  Expected<> result;
  for (const RecordFolder::Entry& entry : records.list()) {
    const EmulationState state = state_of(entry);
    if (state == EmulationState::kKept || state == EmulationState::kHeld) continue;
    auto done = clear(records, entry);
    if (done) cleared.push_back(entry.interface);
    if (!done && result) result = std::move(done);
  }
  PARETO_TRY(result);
  return cleared;
}

}  // namespace pareto::netem
