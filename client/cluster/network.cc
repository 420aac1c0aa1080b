#include "client/cluster/network.h"

#include <map>
#include <utility>

#include "core/base/text.h"
#include "netem/emulated_pair.h"

namespace pareto::client {
namespace {

constexpr const char* kNone = "none";

}  // namespace

struct EmulatedNetwork::Impl {
  Impl(std::map<std::string, Condition> by_name, netem::EmulatedPair joined)
      : conditions(std::move(by_name)), pair(std::move(joined)) {}

  std::map<std::string, Condition> conditions;
  netem::EmulatedPair pair;
  std::string current = kNone;
  std::uint64_t lost_before = 0;  ///< packets, when the current condition was applied
  std::map<std::string, Expected<netem::LinkMeasurement>> measured;

  netem::LinkEnd end(std::size_t device) const {
    return device == 0 ? pair.first() : pair.second();
  }

  Expected<netem::LinkMeasurement> measure(const Condition& condition) const {
    PARETO_ASSIGN(const auto found, netem::measure_link(pair.first(), pair.second(),
                                                        netem::measurement_for(condition)));
    PARETO_TRY(netem::check_measurement(condition, found));
    return found;
  }
};

EmulatedNetwork::EmulatedNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EmulatedNetwork::~EmulatedNetwork() = default;

std::string EmulatedNetwork::host(std::size_t device) {
  return device == 0 ? netem::EmulatedPair::kFirst : netem::EmulatedPair::kSecond;
}

Expected<std::unique_ptr<EmulatedNetwork>> EmulatedNetwork::create(
    std::vector<NamedCondition> conditions) {
  PARETO_ASSIGN(auto pair, netem::EmulatedPair::create({}));
  std::map<std::string, Condition> by_name{{kNone, {}}};
  for (NamedCondition& named : conditions) {
    by_name.insert_or_assign(std::move(named.name), std::move(named.condition));
  }
  auto impl = std::make_unique<Impl>(std::move(by_name), std::move(pair));
  std::unique_ptr<EmulatedNetwork> network(new EmulatedNetwork(std::move(impl)));
  PARETO_TRY(network->enter(0));
  return network;
}

Expected<> EmulatedNetwork::enter(std::size_t device) const {
  return impl_->end(device).where.enter();
}

Expected<netem::LinkMeasurement> EmulatedNetwork::apply(const std::string& name) {
  const auto found = impl_->conditions.find(name);
  if (found == impl_->conditions.end()) {
    std::vector<std::string> names;
    for (const auto& [known, condition] : impl_->conditions) names.push_back(known);
    return fail(ErrorCode::kNotFound, "no network condition \"{}\"{}", name,
                did_you_mean(name, names));
  }
  if (impl_->current != name) {
    PARETO_TRY(with_context(impl_->pair.link().change(found->second), "network {}", name));
    impl_->current = name;
  }
  auto measured = impl_->measured.find(name);
  if (measured == impl_->measured.end()) {
    auto link = with_context(impl_->measure(found->second), "network {}", name);
    measured = impl_->measured.emplace(name, std::move(link)).first;
  }
  impl_->lost_before = impl_->pair.link().lost_packets();
  return measured->second;
}

Expected<> EmulatedNetwork::check() const {
  PARETO_TRY(with_context(impl_->pair.link().check(), "network {}", impl_->current));
  const std::uint64_t lost = impl_->pair.link().lost_packets() - impl_->lost_before;
  if (lost == 0) return {};
  return fail(ErrorCode::kUnavailable,
              "network {}: this machine could not keep up with the emulated link and lost {} "
              "packets: fewer at a time are needed (--window), or a slower link",
              impl_->current, lost);
}

}  // namespace pareto::client
