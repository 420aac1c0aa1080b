#include "partitioner/planning/inputs/cost_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/plan/shard.h"
#include "core/transport/transport.h"
#include "core/wire/parts.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/planning/cost/device_costs.h"
#include "partitioner/planning/search/ideal_costs.h"

namespace pareto::planning {
namespace {

using model::Model;

std::vector<std::int64_t> positions_of(const Model& model, const SplitChoice& splits) {
  std::vector<std::int64_t> positions{0};
  for (const std::size_t index : splits) {
    positions.push_back(model.split_points()[index].position);
  }
  positions.push_back(static_cast<std::int64_t>(model.graph().operators.size()));
  return positions;
}

std::map<std::int64_t, int> places_of(const std::vector<std::int64_t>& positions) {
  std::map<std::int64_t, int> places;
  for (const std::int64_t position : positions) {
    places.emplace(position, static_cast<int>(places.size()));
  }
  return places;
}

/// Returns the bytes of weights that the operators before each position need.
std::vector<std::int64_t> weights_before(const Model& model, const SplitChoice& splits) {
  std::vector<std::int64_t> before{0};
  for (const std::size_t index : splits) {
    before.push_back(static_cast<std::int64_t>(model.split_points()[index].weight_bytes_before));
  }
  const auto all = static_cast<std::int64_t>(model::weight_bytes(model.graph()));
  before.push_back(std::max(all, before.back()));
  return before;
}

/// Links of one set of devices.
class LinkCostsMaker {
 public:
  LinkCostsMaker(const std::vector<std::int64_t>& positions,
                 const std::vector<std::int64_t>& boundary_bytes,
                 const std::vector<ProbedTransport>& transports, const ProbedCodecs& codecs)
      : positions_(positions),
        boundary_bytes_(boundary_bytes),
        transports_(transports),
        codecs_(codecs) {}

  /// Returns the costs between two places of devices; `coordinator`, the number of devices, is its
  /// own place.
  LinkCosts between(std::size_t from, std::size_t to, std::size_t coordinator) const {
    LinkCosts costs;
    const bool has_codecs = from != to && from < coordinator && to < coordinator;
    for (std::size_t codec = 0; codec < (has_codecs ? codecs_.codecs.size() : 1); ++codec) {
      LinkCodec way;
      if (has_codecs) {
        way.name = codecs_.codecs[codec];
        way.by_position = figures(codec, from, to);
      }
      for (const ProbedTransport& transport : transports_) {
        const transport::ProbeResult& probed = transport.links[from][to];
        if (probed.points.empty()) continue;
        way.transport = transport.name;
        way.measured = link_points(probed);
        costs.codecs.push_back(way);
      }
    }
    costs.usable = !costs.codecs.empty();
    return costs;
  }

 private:
  std::vector<CodecFigures> figures(std::size_t codec, std::size_t from, std::size_t to) const {
    std::vector<CodecFigures> all;
    if (codecs_.positions.empty() || codecs_.codecs[codec] == "none") return all;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      all.push_back(figures_of(codecs_, codec, from, to, positions_[i], boundary_bytes_[i]));
    }
    return all;
  }

  const std::vector<std::int64_t>& positions_;
  const std::vector<std::int64_t>& boundary_bytes_;
  const std::vector<ProbedTransport>& transports_;
  const ProbedCodecs& codecs_;
};

/// Returns the rate of the largest message that was probed, by the fastest transport; 0: none is
/// known.
double bytes_per_ns(const LinkCosts& link) {
  double most = 0;
  for (const LinkCodec& way : link.codecs) {
    if (way.measured.empty() || way.measured.back().times.occupancy.count() == 0) continue;
    const LinkPoint& largest = way.measured.back();
    most = std::max(most,
                    static_cast<double>(largest.bytes) / to_nanoseconds(largest.times.occupancy));
  }
  return most;
}

/// Up to whole thousandths: more of it is not known.
double rounded_share(double share) { return std::ceil(share * 1000) / 1000; }

/// Places of devices; the number of them: the coordinator.
struct EndsOfLink {
  std::size_t from;
  std::size_t to;
};

/// The transports that leave a machine.
class NetworkTransports {
 public:
  bool contains(const std::string& transport) {
    const auto [known, added] = known_.try_emplace(transport, true);
    if (added) {
      const auto made = transport::make_transport(transport);
      known->second = !made || (*made)->reach() == transport::Reach::kNetwork;
    }
    return known->second;
  }

 private:
  std::map<std::string, bool> known_;
};

}  // namespace

void rule_out(const std::vector<plan::OperatorRange>& too_large,
              const std::map<std::int64_t, int>& prefixes, DeviceCosts& costs) {
  for (const plan::OperatorRange& range : too_large) {
    // The smallest stage between two positions that holds it.
    const auto begin = std::prev(prefixes.upper_bound(range.begin));
    const auto end = prefixes.lower_bound(range.end);
    const std::int64_t needed = stage_memory_bytes(costs, begin->second, end->second);
    costs.memory_limit_bytes =
        std::min(costs.memory_limit_bytes, std::max<std::int64_t>(needed - 1, 0));
    costs.too_large.emplace_back(begin->second, end->second);
  }
}

std::vector<SharedWeight> shared_weights_to_load(const Model& model,
                                                 const std::vector<plan::OperatorRanges>& before) {
  std::vector<SharedWeight> shared = search::shared_weights(model.graph(), before);
  for (SharedWeight& weight : shared) weight.bytes *= plan::kWeightCopies;
  return shared;
}

std::vector<std::int64_t> crossing_bytes(const CostInputs& inputs) {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t boundary : inputs.boundary_bytes) {
    bytes.push_back(plan::kBoundaryCopies * boundary);
  }
  return bytes;
}

Expected<std::vector<std::vector<EarlyValue>>> early_values(
    const model::Graph& graph, const plan::DeviceProfile& profile,
    const std::vector<plan::OperatorRanges>& before, std::int64_t batch) {
  std::vector<std::int64_t> everywhere(graph.operators.size() + 1);
  std::iota(everywhere.begin(), everywhere.end(), 0);
  PARETO_ASSIGN(const DeviceCosts costs, device_costs(profile, everywhere));
  const auto until = [&](std::int64_t op) { return costs.compute[static_cast<std::size_t>(op)]; };
  std::vector<std::vector<EarlyValue>> early;
  for (const plan::OperatorRanges& done : before) {
    auto& here = early.emplace_back();
    if (done.empty()) continue;
    for (const std::int64_t index : model::live_values(graph, done)) {
      const model::GraphValue& value = graph.values[static_cast<std::size_t>(index)];
      // An input that is handed on (-1) is there from the beginning.
      Nanoseconds lead{};
      for (const plan::OperatorRange& range : done) {
        const std::int64_t first = std::max(range.begin, value.producer + 1);
        if (first < range.end) lead += until(range.end) - until(first);
      }
      if (lead < wire::kWorthAPart) continue;
      PARETO_ASSIGN(const std::uint64_t bytes, value.spec.size_bytes(batch));
      here.push_back({static_cast<std::int64_t>(bytes), lead});
    }
    std::ranges::stable_sort(here, std::greater{}, &EarlyValue::lead);
  }
  return early;
}

std::vector<std::vector<LinkCosts>> link_costs(const std::vector<std::int64_t>& positions,
                                               const std::vector<std::int64_t>& boundary_bytes,
                                               std::size_t devices,
                                               const std::vector<ProbedTransport>& transports,
                                               const ProbedCodecs& codecs) {
  const LinkCostsMaker maker(positions, boundary_bytes, transports, codecs);
  std::vector<std::vector<LinkCosts>> links;
  for (std::size_t from = 0; from <= devices; ++from) {
    auto& row = links.emplace_back();
    for (std::size_t to = 0; to <= devices; ++to) row.push_back(maker.between(from, to, devices));
  }
  return links;
}

void share_media(const std::vector<DeviceFacts>& devices, CostInputs& inputs) {
  std::map<std::string, int> media;
  std::vector<int> of_end;
  for (const DeviceFacts& device : devices) {
    const int next = static_cast<int>(media.size());
    of_end.push_back(device.medium.empty() ? -1 : media.emplace(device.medium, next).first->second);
  }
  of_end.push_back(-1);  // the coordinator's
  inputs.media = static_cast<int>(media.size());
  inputs.medium_names.resize(media.size());
  for (const auto& [name, medium] : media) {
    inputs.medium_names[static_cast<std::size_t>(medium)] = name;
  }
  if (inputs.media == 0) return;
  NetworkTransports of_networks;
  const auto crosses_a_network = [&](const LinkCosts& link) {
    return link.usable && std::ranges::all_of(link.codecs, [&](const LinkCodec& way) {
             return of_networks.contains(way.transport);
           });
  };
  // An end sends, and receives, as fast as by the fastest of its links: on one channel some are
  // nearer than others.
  std::vector<double> sending(of_end.size(), 0);
  std::vector<double> receiving(of_end.size(), 0);
  std::vector<EndsOfLink> links;
  for (std::size_t from = 0; from < of_end.size(); ++from) {
    for (std::size_t to = 0; to < of_end.size(); ++to) {
      const LinkCosts& link = inputs.links[from][to];
      if (from == to || !crosses_a_network(link)) continue;
      links.push_back({from, to});
      sending[from] = std::max(sending[from], bytes_per_ns(link));
      receiving[to] = std::max(receiving[to], bytes_per_ns(link));
    }
  }
  for (const auto& [from, to] : links) {
    LinkCosts& link = inputs.links[from][to];
    int slower = of_end[from];
    int faster = of_end[to];
    double rate = receiving[to];  // of the faster
    if (slower < 0 || (faster >= 0 && receiving[to] < sending[from])) {
      std::swap(slower, faster);
      rate = sending[from];
    }
    if (slower >= 0) link.media.push_back({slower});
    if (faster < 0 || faster == slower) continue;
    link.media.push_back({faster, rate > 0 ? rounded_share(bytes_per_ns(link) / rate) : 1});
  }
}

std::vector<LinkPoint> link_points(const transport::ProbeResult& probed) {
  std::vector<LinkPoint> points;
  for (const transport::ProbePoint& point : probed.points) points.push_back(link_point(point));
  return points;
}

LinkPoint link_point(const transport::ProbePoint& probed) {
  LinkPoint point;
  point.bytes = static_cast<std::int64_t>(probed.bytes);
  Nanoseconds send = probed.send_cpu;
  Nanoseconds receive = probed.receive_cpu;
  // Both sides work at the same time on what passes in pieces: together they take no longer than
  // the message.
  if (send + receive > probed.crossing) {
    const double share = to_nanoseconds(probed.crossing) / to_nanoseconds(send + receive);
    send = Nanoseconds(static_cast<std::int64_t>(share * to_nanoseconds(send)));
    receive = probed.crossing - send;
  }
  const Nanoseconds rest = probed.crossing - send - receive;
  point.times = {std::min(probed.interval, rest), Nanoseconds(0), send, receive};
  point.times.delay = rest - point.times.occupancy;
  return point;
}

Expected<CostInputs> make_cost_inputs(const Model& model, const SplitChoice& splits,
                                      std::int64_t batch, const std::vector<DeviceFacts>& devices,
                                      const std::vector<ProbedTransport>& transports,
                                      const ProbedCodecs& codecs) {
  for (const ProbedTransport& transport : transports) {
    if (transport.links.size() == devices.size() + 1) continue;
    return fail(ErrorCode::kInvalidArgument, "links of {} ends for {} devices and the coordinator",
                transport.links.size(), devices.size());
  }
  CostInputs inputs;
  const std::vector<std::int64_t> positions = positions_of(model, splits);
  std::vector<plan::OperatorRanges> before;
  for (const std::int64_t position : positions) {
    PARETO_ASSIGN(const std::uint64_t bytes, model::boundary_bytes(model.graph(), position, batch));
    inputs.boundary_bytes.push_back(static_cast<std::int64_t>(bytes));
    before.push_back(position > 0 ? plan::OperatorRanges{{0, position}} : plan::OperatorRanges{});
  }
  inputs.legal.assign(positions.size(), true);
  const std::vector<std::int64_t> weights = weights_before(model, splits);
  const std::vector<SharedWeight> shared = shared_weights_to_load(model, before);
  for (const DeviceFacts& device : devices) {
    PARETO_ASSIGN(DeviceCosts costs, with_context(device_costs(device.profile, positions),
                                                  "device {}", device.profile.device));
    for (const std::int64_t bytes : weights)
      costs.weight_bytes.push_back(plan::kWeightCopies * bytes);
    costs.shared_weights = shared;
    costs.crossing_bytes = crossing_bytes(inputs);
    PARETO_ASSIGN(costs.early, early_values(model.graph(), device.profile, before, batch));
    if (device.memory_limit_bytes > 0) {
      costs.memory_limit_bytes = static_cast<std::int64_t>(device.memory_limit_bytes);
    }
    rule_out(device.profile.too_large, places_of(positions), costs);
    costs.figures = device.figures;
    inputs.devices.push_back(std::move(costs));
  }
  inputs.links = link_costs(positions, inputs.boundary_bytes, devices.size(), transports, codecs);
  share_media(devices, inputs);
  PARETO_TRY(check(inputs));
  return inputs;
}

void place(const Model& model, const SplitChoice& splits, const std::vector<DeviceFacts>& devices,
           const Placement& placement, plan::Plan& plan) {
  const std::vector<std::int64_t> positions = positions_of(model, splits);
  plan.splits.clear();
  plan.stages.clear();
  plan.replicated = placement.replicated;
  for (const PlacedStage& stage : placement.stages) {
    plan.stages.push_back({devices[static_cast<std::size_t>(stage.device)].profile.device,
                           positions[static_cast<std::size_t>(stage.begin)],
                           positions[static_cast<std::size_t>(stage.end)]});
    if (stage.begin == 0) continue;
    const std::size_t index = splits[static_cast<std::size_t>(stage.begin) - 1];
    plan.splits.push_back(model.split_points()[index].name);
  }
}

int device_at(std::optional<std::size_t> stage, const Placement& placement,
              const CostInputs& inputs) {
  return stage ? placement.stages[*stage].device : inputs.coordinator();
}

void choose_links(const CostInputs& inputs, const Placement& placement, plan::Plan& plan) {
  std::vector<std::string> transports;
  std::vector<std::string> codecs;
  for (std::size_t link = 0; link < plan.links(); ++link) {
    const plan::LinkEnds ends = plan.ends_of(link);
    const std::size_t chosen =
        placement.codecs.empty() ? 0 : static_cast<std::size_t>(placement.codecs[link]);
    const LinkCodec& way =
        inputs.link(device_at(ends.from, placement, inputs), device_at(ends.to, placement, inputs))
            .codecs[chosen];
    transports.push_back(way.transport);
    if (ends.from && ends.to) codecs.push_back(way.name);
  }
  plan.set_transports(std::move(transports));
  plan.codecs.clear();
  const bool plain = std::ranges::all_of(codecs, [](const auto& name) { return name == "none"; });
  if (!plain) plan.codecs = std::move(codecs);
}

Expected<int> place_of_device(const std::string& name, const std::vector<DeviceFacts>& devices) {
  const auto device = std::ranges::find(
      devices, name, [](const DeviceFacts& facts) { return facts.profile.device; });
  if (device != devices.end()) return static_cast<int>(device - devices.begin());
  return fail(ErrorCode::kNotFound, "nothing is known of device {}", name);
}

Expected<Placement> placement_of(const plan::Plan& plan, const Model& model,
                                 const SplitChoice& splits,
                                 const std::vector<DeviceFacts>& devices) {
  const std::vector<std::int64_t> positions = positions_of(model, splits);
  const auto index_of = [&](std::int64_t position) -> Expected<int> {
    const auto found = std::ranges::lower_bound(positions, position);
    if (found != positions.end() && *found == position) {
      return static_cast<int>(found - positions.begin());
    }
    return fail(ErrorCode::kNotFound, "a cut at operator {} is not among those looked at",
                position);
  };
  Placement placement;
  placement.replicated = plan.replicated;
  for (const plan::StagePlan& stage : plan.stages) {
    if (!stage.operators.empty()) {
      return fail(ErrorCode::kNotFound, "cuts of {} are not in the model's order",
                  to_string(stage.operators));
    }
    PARETO_ASSIGN(const int device, place_of_device(stage.device, devices));
    PARETO_ASSIGN(const int begin, index_of(stage.begin));
    PARETO_ASSIGN(const int end, index_of(stage.end));
    placement.stages.push_back({device, begin, end});
  }
  return placement;
}

}  // namespace pareto::planning
