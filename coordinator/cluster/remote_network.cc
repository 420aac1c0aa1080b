#include "coordinator/cluster/remote_network.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

namespace pareto::cluster {
namespace {

// TCP's payload in packets of 1500 bytes.
constexpr double kPayloadShare = 1448.0 / 1500.0;

/// Returns what one device does to make a link so. `first`: it is the link's first end; `alone`:
/// nobody else does anything.
plan::Condition share_of(const plan::Condition& whole, bool first, bool alone) {
  plan::Condition own = first ? whole : plan::Condition{whole.backward, whole.forward};
  if (!alone) own.backward = {};
  return own;
}

}  // namespace

struct RemoteNetwork::Impl {
  struct Held {
    DaemonClient* device;
    EmulationLease lease;
    /// Time at which it runs out at the latest, once it is no longer renewed.
    TimePoint runs_out{};
  };

  std::map<std::string, plan::Condition> conditions;
  std::vector<DaemonClient*> devices;
  std::string current = kNone;
  std::map<std::string, Expected<netem::LinkMeasurement>> measured;

  std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<Held> held;    ///< guarded by mutex
  std::vector<Held> ending;  ///< could not be ended: they run out by themselves
  Expected<> kept;           ///< guarded by mutex: whether all leases could be renewed
  std::jthread renewing{};   ///< last to begin, first to end

  ~Impl() {
    renewing = {};
    static_cast<void>(release());
  }

  /// Fails where a device may still have a condition: it does not answer, and its lease has not run
  /// out.
  Expected<> release() {
    {
      const std::lock_guard lock(mutex);
      const TimePoint now = std::chrono::steady_clock::now();
      for (Held& one : held) one.runs_out = now + one.lease.duration;
      ending.insert(ending.end(), held.begin(), held.end());
      held.clear();
      kept = {};
    }
    Expected<> released;
    std::vector<Held> left;
    for (const Held& one : ending) {
      auto ended = one.device->end_emulation(one.lease.number);
      if (ended || std::chrono::steady_clock::now() > one.runs_out) continue;
      left.push_back(one);
      if (released) released = std::move(ended);
    }
    ending = std::move(left);
    return released;
  }

  Expected<> take(const std::string& name, const plan::Condition& condition) {
    const auto changes = [](const DaemonClient* device) {
      return !device->config().netem_interface.empty();
    };
    const bool alone = std::ranges::count_if(devices, changes) == 1;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!changes(devices[i])) continue;
      const DeviceConfig& config = devices[i]->config();
      PARETO_ASSIGN(const EmulationLease lease,
                    devices[i]->emulate({config.netem_interface, share_of(condition, i == 0, alone),
                                         name, config.netem_control_too}));
      const std::lock_guard lock(mutex);
      held.push_back({devices[i], lease, {}});
      changed.notify_all();
    }
    return {};
  }

  void renew(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      if (held.empty()) {
        changed.wait(lock, stop, [this] { return !held.empty(); });
        continue;
      }
      const auto shortest = std::ranges::min(held, {}, [](const Held& one) {
                              return one.lease.duration;
                            }).lease.duration;
      // Three times within its duration: one may be late and one lost.
      changed.wait_for(lock, stop, shortest / 3, [this] { return held.empty(); });
      const std::vector<Held> all = held;
      lock.unlock();
      for (const Held& one : all) {
        if (stop.stop_requested()) return;
        auto renewed = one.device->renew_emulation(one.lease.number);
        if (!renewed) note_lost(one, std::move(renewed));
      }
      lock.lock();
    }
  }

  void note_lost(const Held& lost, Expected<> failure) {
    const std::lock_guard lock(mutex);
    const bool is_held = std::ranges::any_of(held, [&](const Held& one) {
      return one.device == lost.device && one.lease.number == lost.lease.number;
    });
    if (is_held && kept) kept = std::move(failure);
  }

  Expected<netem::DirectionMeasurement> measure_one_way(DaemonClient& from, DaemonClient& to,
                                                        Nanoseconds& round_trip) const {
    const auto address = to.info().data.find("tcp");
    if (address == to.info().data.end()) {
      return fail(ErrorCode::kInvalidArgument, "{} has no tcp data address to measure its link by",
                  to.config().name);
    }
    PARETO_ASSIGN(const LinkSpeed speed, from.measure_link("tcp", address->second));
    round_trip = speed.round_trip;
    return netem::DirectionMeasurement{speed.bytes_per_second * 8 / kPayloadShare, 0, 0};
  }

  Expected<netem::LinkMeasurement> measure() const {
    netem::LinkMeasurement found;
    Nanoseconds there{};
    Nanoseconds back{};
    PARETO_ASSIGN(found.forward, measure_one_way(*devices[0], *devices[1], there));
    PARETO_ASSIGN(found.backward, measure_one_way(*devices[1], *devices[0], back));
    found.round_trip = std::min(there, back);
    return found;
  }

  /// Measures a condition and judges it against the network as it is by itself.
  Expected<netem::LinkMeasurement> measure_and_judge(const std::string& name) {
    PARETO_ASSIGN(const auto found, measure());
    const auto bare = measured.find(kNone);
    if (name == kNone || bare == measured.end() || !bare->second) return found;
    netem::LinkMeasurement added = found;
    added.round_trip -= std::min(bare->second->round_trip, added.round_trip);
    const auto check = netem::check_measurement(judged(conditions.at(name), added), added);
    if (check) return found;
    return fail(check.error().code, "{}: ask for no more than these devices' network can do",
                check.error().message);
  }

  /// Returns what a few messages over TCP can tell of a condition: if packets are lost or late,
  /// they come at any rate below the one asked for.
  static plan::Condition judged(plan::Condition asked, const netem::LinkMeasurement& found) {
    const auto leave_out = [](plan::LinkDirection& direction,
                              const netem::DirectionMeasurement& measured) {
      constexpr double kMost = 1.1;
      if (!direction.varies_by_packet()) return;
      const double most = kMost * static_cast<double>(direction.bits_per_second);
      if (measured.bits_per_second <= most) direction.bits_per_second = 0;
    };
    leave_out(asked.forward, found.forward);
    leave_out(asked.backward, found.backward);
    return asked;
  }
};

Expected<> check_changeable(const std::vector<DeviceConfig>& devices) {
  const bool any = std::ranges::any_of(
      devices, [](const DeviceConfig& device) { return !device.netem_interface.empty(); });
  if (any && devices.size() >= 2) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      "--network: none of these devices lets its network be changed: name the interface in "
      "the inventory (netem_interface: eth1) and set allow_netem: true in its paretod.yaml; "
      "or leave out --devices (and PARETO_DEVICES, if it is set), and the network is emulated on "
      "this machine");
}

RemoteNetwork::RemoteNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->renewing =
      std::jthread([state = impl_.get()](const std::stop_token& stop) { state->renew(stop); });
}
RemoteNetwork::~RemoteNetwork() = default;

Expected<std::unique_ptr<RemoteNetwork>> RemoteNetwork::create(
    std::vector<NamedCondition> conditions, std::vector<DaemonClient*> devices) {
  std::vector<DeviceConfig> configs;
  for (const DaemonClient* device : devices) configs.push_back(device->config());
  PARETO_TRY(check_changeable(configs));
  auto impl = std::make_unique<Impl>();
  impl->devices = std::move(devices);
  impl->conditions.emplace(kNone, plan::Condition{});
  for (NamedCondition& named : conditions) {
    impl->conditions.insert_or_assign(std::move(named.name), std::move(named.condition));
  }
  return std::unique_ptr<RemoteNetwork>(new RemoteNetwork(std::move(impl)));
}

Expected<> RemoteNetwork::offers(const std::string& name) const {
  return known(name, impl_->conditions);
}

Expected<netem::LinkMeasurement> RemoteNetwork::apply(const std::string& name) {
  PARETO_TRY(offers(name));
  // What was lost is taken again.
  if (impl_->current != name || !check()) {
    impl_->current.clear();
    PARETO_TRY(with_context(impl_->release(), "network {}", name));
    if (name != kNone) {
      auto taken = with_context(impl_->take(name, impl_->conditions.at(name)), "network {}", name);
      // One device alone makes no condition.
      if (!taken) static_cast<void>(impl_->release());
      PARETO_TRY(taken);
    }
    impl_->current = name;
  }
  auto measured = impl_->measured.find(name);
  if (measured == impl_->measured.end()) {
    auto link = with_context(impl_->measure_and_judge(name), "network {}", name);
    // One bad draw is no verdict on all its trials.
    if (!link) link = with_context(impl_->measure_and_judge(name), "network {}", name);
    measured = impl_->measured.emplace(name, std::move(link)).first;
  }
  return measured->second;
}

Expected<> RemoteNetwork::check() const {
  const std::lock_guard lock(impl_->mutex);
  return with_context(impl_->kept, "network {}", impl_->current);
}

}  // namespace pareto::cluster
