#include "coordinator/cluster/network.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "netem/testbed_network.h"

namespace pareto::cluster {
namespace {

/// The most measurements of a link, before it is not what was asked for.
constexpr int kMeasurements = 3;

/// The condition of each link.
using Conditions = std::vector<plan::Condition>;

Conditions own_conditions(const netem::Testbed& bed) {
  Conditions own;
  for (const netem::TestbedLink& link : bed.links) own.push_back(link.condition);
  return own;
}

}  // namespace

std::string condition_name(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

struct EmulatedNetwork::Impl {
  Impl(std::map<std::string, Conditions> by_name, netem::TestbedNetwork made)
      : conditions(std::move(by_name)), network(std::move(made)) {}

  std::map<std::string, Conditions> conditions;
  netem::TestbedNetwork network;
  std::string current = kOwn;
  std::uint64_t lost_before = 0;  ///< packets, when the current condition was applied
  std::map<std::string, Expected<netem::LinkMeasurement>> measured;

  Expected<> change(const Conditions& wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) PARETO_TRY(network.link(i).change(wanted[i]));
    return {};
  }

  /// Measures and judges every link. If there is more than one, the result is the way between the
  /// first two devices.
  Expected<netem::LinkMeasurement> measure(const Conditions& asked) const {
    netem::LinkMeasurement found;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      PARETO_ASSIGN(found, with_context(judge(i, asked[i]), "link {}", i));
    }
    if (network.devices() < 2 || asked.size() < 2) return found;
    // It may lead over any of them.
    netem::MeasurementOptions options = netem::measurement_for(asked[0]);
    options.in_order = std::ranges::all_of(asked, [](const plan::Condition& condition) {
      return netem::measurement_for(condition).in_order;
    });
    return netem::measure_link({network.device(0), host(0)}, {network.device(1), host(1)}, options);
  }

  /// Judges a link. A measurement that is not what was asked for is repeated: the machine may have
  /// been busy for a moment.
  Expected<netem::LinkMeasurement> judge(std::size_t link, const plan::Condition& asked) const {
    for (int attempt = 1;; ++attempt) {
      PARETO_ASSIGN(const netem::LinkMeasurement found,
                    netem::measure_link(network.first(link), network.second(link),
                                        netem::measurement_for(asked)));
      const auto judged = netem::check_measurement(asked, found);
      if (judged) return found;
      if (attempt < kMeasurements) continue;
      return fail(judged.error().code,
                  "{}: ask this machine for no more than it reached, or leave it more time to "
                  "emulate the link (fewer other programs, more cores)",
                  judged.error().message);
    }
  }

  std::uint64_t lost_packets() const {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < network.links(); ++i) lost += network.link(i).lost_packets();
    return lost;
  }
};

std::string resting_condition(const Network* network) {
  return network == nullptr ? Network::kNone : network->resting_condition();
}

Expected<std::optional<netem::LinkMeasurement>> apply_condition(Network* network,
                                                                const std::string& condition) {
  if (network != nullptr) return network->apply(condition);
  if (condition == Network::kNone) return std::nullopt;
  return fail(ErrorCode::kInvalidArgument,
              "network {}: the network between these devices cannot be changed", condition);
}

Expected<> put_to_rest(Network* network) {
  PARETO_TRY(apply_condition(network, resting_condition(network)));
  return {};
}

// NOLINTBEGIN(performance-unnecessary-value-param): those that override it move them.
Expected<> Network::disturb(std::size_t link, netem::PacketFaults /*forward*/,
                            netem::PacketFaults /*backward*/) {
  return fail(ErrorCode::kInvalidArgument, "link {} is not emulated by this process", link);
}
// NOLINTEND(performance-unnecessary-value-param)

EmulatedNetwork::EmulatedNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EmulatedNetwork::~EmulatedNetwork() = default;

std::string EmulatedNetwork::host(std::size_t device) {
  return netem::TestbedNetwork::host(device);
}

Expected<std::unique_ptr<EmulatedNetwork>> EmulatedNetwork::create(
    const netem::Testbed& bed, std::vector<NamedCondition> conditions) {
  PARETO_ASSIGN(auto network, netem::TestbedNetwork::create(bed));
  const std::size_t links = bed.links.size();
  std::map<std::string, Conditions> by_name{{kNone, Conditions(links)},
                                            {kOwn, own_conditions(bed)}};
  for (NamedCondition& named : conditions) {
    by_name.insert_or_assign(std::move(named.name), Conditions(links, named.condition));
  }
  auto impl = std::make_unique<Impl>(std::move(by_name), std::move(network));
  std::unique_ptr<EmulatedNetwork> made(new EmulatedNetwork(std::move(impl)));
  PARETO_TRY(made->enter(0));
  return made;
}

std::string EmulatedNetwork::emulator() const {
  if (impl_->network.links() == 0) return "";
  return std::string(netem::to_string(impl_->network.link(0).kind()));
}

Expected<> EmulatedNetwork::disturb(std::size_t link, netem::PacketFaults forward,
                                    netem::PacketFaults backward) {
  if (link >= impl_->network.links()) {
    return Network::disturb(link, std::move(forward), std::move(backward));
  }
  return impl_->network.link(link).disturb(std::move(forward), std::move(backward));
}

std::string EmulatedNetwork::place(std::size_t device) const {
  return impl_->network.device(device).path();
}

std::optional<plan::Condition> EmulatedNetwork::definition(const std::string& condition) const {
  const auto found = impl_->conditions.find(condition);
  if (found == impl_->conditions.end() || found->second.size() != 1) return std::nullopt;
  return found->second.front();
}

Expected<> EmulatedNetwork::enter(std::size_t device) const {
  return impl_->network.device(device).enter();
}

Expected<> EmulatedNetwork::offers(const std::string& name) const {
  return known(name, impl_->conditions);
}

Expected<netem::LinkMeasurement> EmulatedNetwork::apply(const std::string& name) {
  PARETO_TRY(offers(name));
  const Conditions& asked = impl_->conditions.at(name);
  if (impl_->current != name) {
    // Half changed, it is none that has a name.
    impl_->current.clear();
    PARETO_TRY(with_context(impl_->change(asked), "network {}", name));
    impl_->current = name;
  }
  auto measured = impl_->measured.find(name);
  if (measured == impl_->measured.end()) {
    auto link = with_context(impl_->measure(asked), "network {}", name);
    measured = impl_->measured.emplace(name, std::move(link)).first;
  }
  impl_->lost_before = impl_->lost_packets();
  return measured->second;
}

Expected<> EmulatedNetwork::check() const {
  for (std::size_t i = 0; i < impl_->network.links(); ++i) {
    PARETO_TRY(with_context(impl_->network.link(i).check(), "network {}", impl_->current));
  }
  const std::uint64_t lost = impl_->lost_packets() - impl_->lost_before;
  if (lost == 0) return {};
  return fail(ErrorCode::kUnavailable,
              "network {}: this machine could not keep up with the emulated link and lost {} "
              "packets: fewer at a time are needed (--window), or a slower link",
              impl_->current, lost);
}

struct JoinedNetwork::Impl {
  std::string condition;
  std::string emulator;
  std::vector<netem::NetworkNamespace> places;
  std::optional<Expected<netem::LinkMeasurement>> measured;
};

JoinedNetwork::JoinedNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JoinedNetwork::~JoinedNetwork() = default;

std::string JoinedNetwork::resting_condition() const { return impl_->condition; }

Expected<std::unique_ptr<JoinedNetwork>> JoinedNetwork::create(
    std::string condition, std::string emulator, const std::vector<std::string>& places) {
  auto impl = std::make_unique<Impl>();
  impl->condition = std::move(condition);
  impl->emulator = std::move(emulator);
  for (const std::string& file : places) {
    PARETO_ASSIGN(auto place, netem::NetworkNamespace::open_file(file));
    impl->places.push_back(std::move(place));
  }
  if (impl->places.empty()) return fail(ErrorCode::kCorrupt, "the test bed has no devices");
  PARETO_TRY(impl->places.front().enter());
  return std::unique_ptr<JoinedNetwork>(new JoinedNetwork(std::move(impl)));
}

std::string JoinedNetwork::emulator() const { return impl_->emulator; }

Expected<> JoinedNetwork::offers(const std::string& name) const {
  if (name == impl_->condition) return {};
  return fail(ErrorCode::kInvalidArgument,
              "network {}: the test bed is up with {}; to change its network take it down first "
              "(paretoctl testbed down)",
              name, impl_->condition);
}

Expected<netem::LinkMeasurement> JoinedNetwork::apply(const std::string& name) {
  PARETO_TRY(offers(name));
  if (impl_->places.size() < 2) return netem::LinkMeasurement{};
  if (!impl_->measured) {
    impl_->measured =
        with_context(netem::measure_link({impl_->places[0], netem::TestbedNetwork::host(0)},
                                         {impl_->places[1], netem::TestbedNetwork::host(1)}, {}),
                     "network {}", name);
  }
  return *impl_->measured;
}

}  // namespace pareto::cluster
