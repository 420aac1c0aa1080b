#include "partitioner/planning/search/tables.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "partitioner/planning/cost/plan_values.h"
#include "partitioner/planning/search/exchangeable_devices.h"

namespace pareto::search {
namespace {

constexpr std::size_t kMostUsages = std::numeric_limits<std::size_t>::max();

/// A hop that has not got its ports.
struct Way {
  Hop hop;
  Times send;
  Times receive;
};

/// Returns whether a is nowhere worse than b.
bool as_good(const Way& a, const Way& b) {
  const auto nowhere_more = [](const std::vector<std::int64_t>& x,
                               const std::vector<std::int64_t>& y) {
    return std::ranges::equal(x, y, std::ranges::less_equal{});
  };
  return nowhere_more(a.hop.occupancy, b.hop.occupancy) && nowhere_more(a.hop.delay, b.hop.delay) &&
         nowhere_more(a.hop.first_delay, b.hop.first_delay) &&
         std::ranges::equal(a.hop.values, b.hop.values, nowhere_more) &&
         nowhere_more(a.send, b.send) && nowhere_more(a.receive, b.receive);
}

class TableBuilder {
 public:
  TableBuilder(const planning::CostInputs& inputs, const AlsoObjectives& also, int step)
      : inputs_(inputs), also_(also), media_(media_roles(inputs)) {
    std::vector<int> legal;
    for (int p = 1; p < inputs.positions(); ++p) {
      if (inputs.may_cut(p)) legal.push_back(p);
    }
    tables_.positions.push_back(0);
    for (std::size_t i = static_cast<std::size_t>(step) - 1; i < legal.size();
         i += static_cast<std::size_t>(step)) {
      tables_.positions.push_back(legal[i]);
    }
    tables_.positions.push_back(inputs.positions());
  }

  SearchTables build() {
    find_kinds();
    const int kinds = static_cast<int>(tables_.kinds.size());
    for (int to = 0; to < kinds; ++to) {
      if (kind(to).may_be_first) add_hops(-1, to);
    }
    for (int from = 0; from < kinds; ++from) {
      for (int to = 0; to < kinds; ++to) {
        if (from != to || kind(from).count() > 1) add_hops(from, to);
      }
      if (kind(from).may_be_last) add_hops(from, -1);
    }
    return std::move(tables_);
  }

 private:
  Kind& kind(int index) { return tables_.kinds[static_cast<std::size_t>(index)]; }

  void find_kinds() {
    for (std::vector<int>& group : exchangeable_devices(inputs_, media_)) {
      const planning::DeviceCosts& costs = inputs_.devices[static_cast<std::size_t>(group.front())];
      Kind& added = tables_.kinds.emplace_back();
      added.devices = std::move(group);
      added.may_be_first = costs.may_be_first;
      added.may_be_last = costs.may_be_last;
      for (const planning::Objective* const one : also_) {
        const auto rate = one->searched->rate;
        added.rates.push_back(rate == nullptr ? planning::StageRate{} : rate(costs.figures));
      }
      if (!any_stage_may_lie()) list_stages(costs, added);
    }
    for (Kind& of : tables_.kinds) {
      of.stride = tables_.usages;
      const std::size_t counts = static_cast<std::size_t>(of.count()) + 1;
      tables_.usages =
          tables_.usages > kMostUsages / counts ? kMostUsages : tables_.usages * counts;
    }
  }

  /// Returns whether a stage may lie between any two positions, on any device.
  bool any_stage_may_lie() const {
    return inputs_.ends.empty() && std::ranges::all_of(inputs_.devices, has_room_for_any_stage);
  }

  static bool has_room_for_any_stage(const planning::DeviceCosts& costs) {
    const std::int64_t weights = costs.weight_bytes.empty() ? 0 : costs.weight_bytes.back();
    const std::int64_t crossing =
        costs.crossing_bytes.empty() ? 0 : std::ranges::max(costs.crossing_bytes);
    return costs.too_large.empty() && weights + 2 * crossing <= costs.memory_limit_bytes;
  }

  void list_stages(const planning::DeviceCosts& costs, Kind& of) const {
    const std::vector<int>& at = tables_.positions;
    of.ends.resize(at.size());
    of.begins.resize(at.size());
    const auto add = [&](std::size_t begin, std::size_t end) {
      const int first = static_cast<int>(begin);
      const int last = static_cast<int>(end);
      if (tables_.is_all(first, last) || !planning::has_room(inputs_, costs, at[begin], at[end]))
        return;
      of.ends[begin].push_back(last);
      of.begins[end].push_back(first);
    };
    if (inputs_.ends.empty()) {
      for (std::size_t begin = 0; begin < at.size(); ++begin) {
        for (std::size_t end = begin + 1; end < at.size(); ++end) add(begin, end);
      }
      return;
    }
    constexpr std::size_t kNotSearched = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> searched(inputs_.ends.size(), kNotSearched);
    for (std::size_t i = 0; i < at.size(); ++i) searched[static_cast<std::size_t>(at[i])] = i;
    for (std::size_t begin = 0; begin < at.size(); ++begin) {
      for (const int position : inputs_.ends[static_cast<std::size_t>(at[begin])]) {
        const std::size_t end = searched[static_cast<std::size_t>(position)];
        if (end != kNotSearched) add(begin, end);
      }
    }
  }

  void add_hops(int from, int to) {
    const int sender = from < 0 ? inputs_.coordinator() : kind(from).devices.front();
    // Within a kind all links are alike: that of its first two stands for them.
    const int receiver = to < 0 ? inputs_.coordinator() : kind(to).devices[from == to ? 1 : 0];
    if (!inputs_.link(sender, receiver).usable) return;
    for (Way& way : ways_over(sender, receiver)) {
      Hop& hop = way.hop;
      hop.from = from;
      hop.to = to;
      for (const MediumRole& role : media_.link(sender, receiver)) {
        Times times = hop.occupancy;
        for (std::int64_t& time : times) time = role.time(Nanoseconds(time)).count();
        hop.media.push_back({role.of, role.number, std::move(times)});
      }
      if (from >= 0) hop.exit = port(tables_.exits, kind(from).exits, from, way.send, 1);
      if (to >= 0) hop.entry = port(tables_.entries, kind(to).entries, to, way.receive, -1);
      const int index = static_cast<int>(tables_.hops.size());
      (from < 0 ? tables_.source_hops : kind(from).hops).push_back(index);
      tables_.hops.push_back(std::move(hop));
    }
  }

  /// Returns those of a link's codecs that no other is as good as in everything at every position:
  /// a plan by one that is beaten like that is never better than the same plan by the other.
  std::vector<Way> ways_over(int sender, int receiver) const {
    const planning::LinkCosts& link = inputs_.link(sender, receiver);
    std::vector<Way> ways;
    for (int codec = 0; codec < planning::codec_count(link); ++codec) {
      Way way;
      way.hop.codec = codec;
      way.hop.values.resize(also_.size());
      for (const int position : tables_.positions) {
        const planning::LinkTimes times =
            planning::link_times(link, codec, position, inputs_.boundary(position));
        const planning::LinkTimes first =
            planning::crossing_times(inputs_, sender, receiver, codec, 0, position);
        way.hop.occupancy.push_back(times.occupancy.count());
        way.hop.delay.push_back(times.delay.count());
        way.hop.first_delay.push_back(first.delay.count());
        const planning::HopView view = planning::hop_view(inputs_, link, codec, position);
        for (std::size_t i = 0; i < also_.size(); ++i) {
          way.hop.values[i].push_back(planning::hop_value(*also_[i], view));
        }
        way.send.push_back(times.send.count());
        way.receive.push_back(times.receive.count());
      }
      if (std::ranges::any_of(ways, [&](const Way& other) { return as_good(other, way); })) {
        continue;
      }
      std::erase_if(ways, [&](const Way& other) { return as_good(way, other); });
      ways.push_back(std::move(way));
    }
    return ways;
  }

  /// Returns the port with these times, made where there is none. sign: of the prefix sums in it.
  int port(std::vector<Port>& ports, std::vector<int>& of_kind, int owner, const Times& times,
           int sign) {
    const planning::DeviceCosts& costs =
        inputs_.devices[static_cast<std::size_t>(kind(owner).devices.front())];
    Port made{owner, with_stages(times, costs, sign), with_stages(times, costs.when_busy(), sign)};
    for (const int index : of_kind) {
      const Port& port = ports[static_cast<std::size_t>(index)];
      if (port.alone == made.alone && port.busy == made.busy) return index;
    }
    of_kind.push_back(static_cast<int>(ports.size()));
    ports.push_back(std::move(made));
    return of_kind.back();
  }

  Times with_stages(Times times, const planning::StageCosts& costs, int sign) const {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const auto position = static_cast<std::size_t>(tables_.positions[i]);
      times[i] += sign * costs.compute[position].count();
      if (sign < 0) times[i] += costs.overhead.count();
      if (sign < 0 && !costs.enter.empty()) times[i] += costs.enter[position].count();
    }
    return times;
  }

  const planning::CostInputs& inputs_;
  const AlsoObjectives& also_;
  const MediaRoles media_;
  SearchTables tables_;
};

/// Returns the bytes of the lists of stages if positions are no chain: two for each kind, and in a
/// program that is solved one for each of its entries and exits.
double list_bytes(const SearchTables& tables) {
  double count = 0;
  for (const Kind& kind : tables.kinds) {
    double stages = 0;
    for (const std::vector<int>& ends : kind.ends) stages += static_cast<double>(ends.size());
    count += stages * (2 + static_cast<double>(kind.entries.size()) *
                               static_cast<double>(kind.exits.size()));
  }
  return count * sizeof(int);
}

}  // namespace

std::vector<std::size_t> SearchTables::ascending_usages() const {
  std::vector<std::size_t> order(usages);
  std::iota(order.begin(), order.end(), 0);
  const auto total = [this](std::size_t usage) {
    int sum = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      sum += used(usage, static_cast<int>(kind));
    return sum;
  };
  std::ranges::stable_sort(order, {}, total);
  return order;
}

SearchTables make_tables(const planning::CostInputs& inputs, const AlsoObjectives& also, int step) {
  return TableBuilder(inputs, also, step).build();
}

Expected<> check_size(const SearchTables& tables, std::size_t cell_bytes) {
  const std::size_t ports = tables.entries.size() + tables.exits.size();
  // Where nothing leads to any device there are no ports, and usages are listed all the same.
  const std::size_t usage_bytes =
      sizeof(std::size_t) + tables.positions.size() * ports * cell_bytes;
  const double bytes =
      static_cast<double>(tables.usages) * static_cast<double>(usage_bytes) + list_bytes(tables);
  if (bytes <= kMostTableBytes) return {};
  int devices = 0;
  for (const Kind& kind : tables.kinds) devices += kind.count();
  constexpr double kGib = 1U << 30;
  return fail(ErrorCode::kExhausted,
              "to search plans of {} devices, {} of them different, with {} places to cut takes "
              "{:.3g} GiB of tables, and {:.3g} is the most: leave devices out, cut the model at "
              "fewer places, or choose from fewer transports and codecs",
              devices, tables.kinds.size(), tables.last() - 1, bytes / kGib,
              kMostTableBytes / kGib);
}

planning::Placement to_placement(const SearchTables& tables, const std::vector<TracedStage>& stages,
                                 const std::vector<int>& hops) {
  planning::Placement placement;
  std::vector<std::size_t> taken(tables.kinds.size(), 0);
  for (const TracedStage& stage : stages) {
    const auto kind = static_cast<std::size_t>(stage.kind);
    placement.stages.push_back({tables.kinds[kind].devices[taken[kind]++],
                                tables.positions[static_cast<std::size_t>(stage.begin)],
                                tables.positions[static_cast<std::size_t>(stage.end)]});
  }
  for (const int hop : hops) {
    placement.codecs.push_back(tables.hops[static_cast<std::size_t>(hop)].codec);
  }
  return placement;
}

}  // namespace pareto::search
