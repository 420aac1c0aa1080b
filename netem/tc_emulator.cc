#include "netem/tc_emulator.h"

#include <net/if.h>

#include <optional>
#include <string>
#include <utility>

#include "netem/rate_changer.h"
#include "netem/traffic_control.h"

namespace pareto::netem {
namespace {

/// Hardware addresses, known in advance: nobody has to ask for them over a link that loses the
/// question.
constexpr const char* kFirstHardware = "02:00:00:00:00:01";
constexpr const char* kSecondHardware = "02:00:00:00:00:02";

/// Returns a name that neither of both namespaces has.
Expected<std::string> free_name(const NetworkNamespace& first, const NetworkNamespace& second) {
  for (int number = 0; number < 1000; ++number) {
    const std::string name = fmt::format("pareto{}", number);
    bool free = true;
    const auto look = [&]() -> Expected<> {
      free = free && ::if_nametoindex(name.c_str()) == 0;
      return {};
    };
    PARETO_TRY(first.run(look));
    PARETO_TRY(second.run(look));
    if (free) return name;
  }
  return fail(ErrorCode::kExhausted, "there are a thousand devices of this name already");
}

/// A pair of devices, each with the same name; they end with this. Threads: as LinkEmulator.
class VethPair {
 public:
  static Expected<VethPair> create(const LinkEnd& first, const LinkEnd& second) {
    PARETO_ASSIGN(std::string name, free_name(first.where, second.where));
    PARETO_ASSIGN(NetworkNamespace first_held, first.where.copy());
    PARETO_ASSIGN(NetworkNamespace second_held, second.where.copy());
    VethPair pair(std::move(name), std::move(first_held), std::move(second_held));
    PARETO_TRY(pair.first_.run([&] {
      return run_tc({"ip", "link", "add", "name", pair.name_, "address", kFirstHardware, "type",
                     "veth", "peer", "name", pair.name_, "address", kSecondHardware, "netns",
                     pair.second_.path()});
    }));
    pair.made_ = true;
    PARETO_TRY(pair.set_up(pair.first_, first.address, second.address, kSecondHardware));
    PARETO_TRY(pair.set_up(pair.second_, second.address, first.address, kFirstHardware));
    return pair;
  }
  ~VethPair() {
    if (!made_) return;
    // The other one goes with it. There is nobody to tell, and it ends with its namespace at the
    // latest.
    static_cast<void>(first_.run([&] { return run_tc({"ip", "link", "del", "dev", name_}); }));
  }
  VethPair(VethPair&& other) noexcept
      : name_(std::move(other.name_)),
        first_(std::move(other.first_)),
        second_(std::move(other.second_)),
        made_(std::exchange(other.made_, false)) {}
  VethPair& operator=(VethPair&&) = delete;

  const std::string& name() const { return name_; }
  const NetworkNamespace& first() const { return first_; }
  const NetworkNamespace& second() const { return second_; }

 private:
  VethPair(std::string name, NetworkNamespace first, NetworkNamespace second)
      : name_(std::move(name)), first_(std::move(first)), second_(std::move(second)) {}

  Expected<> set_up(const NetworkNamespace& where, const std::string& address,
                    const std::string& peer, const char* peer_hardware) const {
    return where.run([&]() -> Expected<> {
      // Without addrgenmode none the kernel would speak IPv6 of its own accord.
      PARETO_TRY(run_tc({"ip", "link", "set", "dev", name_, "mtu", "1500", "txqueuelen",
                         kQueueLength, "addrgenmode", "none"}));
      PARETO_TRY(run_tc({"ip", "address", "add", address, "peer", peer, "dev", name_}));
      PARETO_TRY(run_tc({"ip", "link", "set", "dev", name_, "up"}));
      return run_tc({"ip", "neighbour", "replace", peer, "lladdr", peer_hardware, "nud",
                     "permanent", "dev", name_});
    });
  }

  std::string name_;
  NetworkNamespace first_;
  NetworkNamespace second_;
  bool made_ = false;
};

/// Adds the alternatives to the error if netem is missing.
Expected<> with_remedy(Expected<> result) {
  if (!result && result.error().message.find("no sch_netem") != std::string::npos) {
    result.error().message += "; use the user emulator";
  }
  return result;
}

/// The packets that leave through one device. Threads: as LinkEmulator.
class TcDirection {
 public:
  TcDirection(const NetworkNamespace& where, const std::string& device)
      : where_(where), device_(device) {}

  Expected<> change(const plan::LinkDirection& direction) {
    changer_.reset();
    PARETO_TRY(send_alone(direction.varies_by_packet()));
    PARETO_TRY(apply(at_first(direction)));
    changer_.emplace(direction, RateChanger::Follows::kRateAndDelay,
                     [this](const plan::LinkDirection& now) { return apply(now); });
    return {};
  }
  Expected<> check() const {
    if (changer_) return changer_->check();
    return fail(ErrorCode::kInternal, "the link's condition could not be changed");
  }
  /// Returns the packets dropped; 0 if the kernel does not tell.
  std::uint64_t dropped() const {
    std::uint64_t drops = 0;
    static_cast<void>(where_.run([&]() -> Expected<> {
      PARETO_ASSIGN(const DeviceQueues queues, queues_of(device_));
      drops = queues.netem_drops;
      return {};
    }));
    return drops;
  }

 private:
  Expected<> apply(const plan::LinkDirection& direction) const {
    return with_remedy(where_.run([&] { return control_traffic(device_, direction); }));
  }
  /// Sets whether segments fare each by itself.
  Expected<> send_alone(bool alone) {
    if (alone == alone_) return {};
    alone_ = alone;
    return where_.run([&] { return set_most_segments(device_, alone ? 1 : kManySegments); });
  }

  const NetworkNamespace& where_;
  const std::string& device_;
  bool alone_ = false;
  std::optional<RateChanger> changer_;  // last: it uses all of the above
};

/// A link of two veth devices, whose queues the kernel delays.
///
/// Threads: as LinkEmulator.
class TcEmulator final : public LinkEmulator {
 public:
  explicit TcEmulator(VethPair devices)
      : devices_(std::move(devices)),
        forward_(devices_.first(), devices_.name()),
        backward_(devices_.second(), devices_.name()) {}

  EmulatorKind kind() const override { return EmulatorKind::kTc; }
  Expected<> change(const plan::Condition& condition) override {
    PARETO_TRY(forward_.change(condition.forward));
    return backward_.change(condition.backward);
  }
  Expected<> disturb(PacketFaults forward, PacketFaults backward) override {
    if (forward.empty() && backward.empty()) return {};
    return fail(ErrorCode::kInvalidArgument,
                "the kernel emulates this link (tc), and makes no such faults: put the test bed up "
                "again with `emulator: user` in its file");
  }
  /// Returns 0: the kernel keeps up, or nobody knows.
  std::uint64_t lost_packets() const override { return 0; }
  std::uint64_t dropped_packets() const override {
    return forward_.dropped() + backward_.dropped();
  }
  Expected<> check() const override {
    PARETO_TRY(forward_.check());
    return backward_.check();
  }

 private:
  VethPair devices_;
  TcDirection forward_;
  TcDirection backward_;
};

}  // namespace

Expected<std::unique_ptr<LinkEmulator>> make_tc_emulator(const LinkEnd& first,
                                                         const LinkEnd& second,
                                                         const plan::Condition& condition) {
  PARETO_ASSIGN(VethPair devices, VethPair::create(first, second));
  auto emulator = std::make_unique<TcEmulator>(std::move(devices));
  PARETO_TRY(emulator->change(condition));
  return emulator;
}

}  // namespace pareto::netem
