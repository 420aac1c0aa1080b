// The exact front by a label-setting dynamic program (Martins 1984, for paths of many criteria):
// partial plans with the same used devices, the same last one and the same position are rivals;
// those that another is no worse than in every criterion are dropped. All criteria are sums or
// maxima in whole nanoseconds, so dropping them is exact; but for the load of the medium that a
// device has alone, which begins again from hop to hop: at the same time for all rivals, and
// nothing of it stays but the bottleneck that it may be.
//
// It takes any criteria, at N² steps and more where thresholds take N. What is known of the front
// prunes: it is searched for on every 16th position first, then on every 4th, then on all.
#include <algorithm>
#include <limits>

#include "partitioner/planning/cost/plan_values.h"
#include "partitioner/planning/search/label_bounds.h"
#include "partitioner/planning/search/labels.h"
#include "partitioner/planning/search/media_roles.h"
#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/replicas.h"
#include "partitioner/planning/search/strategies.h"
#include "partitioner/planning/search/tables.h"

namespace pareto::search {
namespace {

/// The most shared channels, and the most other objectives: each is a criterion.
constexpr int kMostSharedMedia = 4;
constexpr int kMostAlso = 5;
/// Latency, bottleneck, other objectives, the medium that a device has alone, and those.
constexpr int kMostCriteria = 3 + kMostAlso + kMostSharedMedia;

/// The places of a label's costs, behind latency and bottleneck.
struct Layout {
  Layout(const AlsoObjectives& also, const MediaRoles& media)
      : own_medium(2 + static_cast<int>(also.size())),
        first_medium(own_medium + (media.any_own ? 1 : 0)),
        criteria(first_medium + media.of_several) {}

  int own_medium;    ///< load of the medium that the device has alone, so far; where any has one
  int first_medium;  ///< loads of those of several devices
  int criteria;
};

/// One grid of positions. Threads: one.
template <int D>
class LabelGrid {
 public:
  LabelGrid(const planning::CostInputs& inputs, const SearchOptions& options, const Layout& layout,
            int step, PointFront& front, std::vector<planning::Placement>& witnesses)
      : inputs_(inputs),
        also_(options.also),
        layout_(layout),
        front_(front),
        witnesses_(witnesses),
        tables_(make_tables(inputs, options.also, step)),
        bounds_(tables_, options.also),
        row_(tables_.positions.size()) {}

  /// Walks the grid of positions and adds each complete placement to the front. Fails: kExhausted.
  /// `comparisons`: that are left; what it needs is taken away.
  Expected<> run(std::int64_t& comparisons) {
    if (!bounds_.feasible()) return {};
    comparisons_ = comparisons;
    pending_.resize(tables_.usages * tables_.entries.size() * row_);
    for (const int hop : tables_.source_hops) cross(Label<D>{}, hop, 0, 0);
    for (const std::size_t usage : tables_.ascending_usages()) {
      for (const Kind& kind : tables_.kinds) {
        extend(usage, kind);
        if (comparisons_ >= 0 && label_bytes() <= kMostTableBytes) continue;
        return fail(ErrorCode::kExhausted,
                    "to search plans of {} devices with {} places to cut, too many beginnings of "
                    "plans have to be compared: leave devices out, or names under `medium`, cut "
                    "the model at fewer places, or look at fewer objectives",
                    inputs_.devices.size(), inputs_.positions() - 1);
      }
    }
    comparisons = comparisons_;
    return {};
  }

 private:
  /// An arrival that was kept: for the way back.
  struct Step {
    std::int32_t parent;
    std::int32_t hop;
    std::int32_t position;
  };
  /// The labels that have arrived at each position of an entry; `parent` is its own step.
  using Arrivals = std::vector<std::vector<Label<D>>>;

  Criteria criteria_of(const Label<D>& label) const {
    Criteria criteria{label.costs[0], std::max<std::int64_t>(label.costs[1], 1)};
    if constexpr (D > 2) {
      for (std::size_t i = 0; i < also_.size(); ++i) criteria.also[i] = label.costs[2 + i];
    }
    return criteria;
  }

  /// Lets everything that has arrived at a kind's entries run stages of it, and leave.
  void extend(std::size_t usage, const Kind& kind) {
    std::vector<Arrivals> arrived;
    bool any = false;
    for (const int entry : kind.entries) {
      arrived.push_back(arrivals(usage, entry));
      for (const auto& labels : arrived.back()) any = any || !labels.empty();
    }
    if (!any) return;
    std::vector<Label<D>> leaving;
    for (const int exit : kind.exits) {
      for (int end = 1; end <= tables_.last() && comparisons_ >= 0; ++end) {
        leaving.clear();
        for (std::size_t i = 0; i < arrived.size(); ++i) {
          run_stages(kind, arrived[i], kind.entries[i], exit, end, leaving);
        }
        comparisons_ -= keep_best(leaving, comparisons_);
        std::erase_if(leaving, [&](const Label<D>& label) {
          return bounds_.hopeless_at_exit(front_, criteria_of(label), usage, exit, end);
        });
        for (const Label<D>& label : leaving) leave(label, usage, kind, exit, end);
      }
    }
  }

  Arrivals arrivals(std::size_t usage, int entry) {
    Arrivals all(row_);
    for (int position = 0; position < tables_.last(); ++position) {
      std::vector<Label<D>> labels = std::move(pending(usage, entry, position));
      waiting_ -= labels.size();
      comparisons_ -= keep_best(labels, comparisons_);
      std::erase_if(labels, [&](const Label<D>& label) {
        return bounds_.hopeless_at_entry(front_, criteria_of(label), usage, entry, position);
      });
      for (Label<D>& label : labels) {
        steps_.push_back({label.parent, label.hop, position});
        label.parent = static_cast<std::int32_t>(steps_.size()) - 1;
      }
      all[at(position)] = std::move(labels);
    }
    return all;
  }

  void run_stages(const Kind& kind, const Arrivals& arrived, int entry, int exit, int end,
                  std::vector<Label<D>>& leaving) const {
    const Port& before = tables_.entries[at(entry)];
    const Port& after = tables_.exits[at(exit)];
    const auto run_stage = [&](int begin) {
      if (arrived[at(begin)].empty()) return;
      const std::int64_t time = before.alone[at(begin)] + after.alone[at(end)];
      const std::int64_t busy = before.busy[at(begin)] + after.busy[at(end)];
      planning::Values values{};
      for (std::size_t i = 0; i < also_.size(); ++i) {
        const auto of_stage = also_[i]->searched->of_stage;
        // The rate is the kind's: it is not looked up again for each of N² stages.
        const planning::StageRate& rate = kind.rates[i];
        values[i] = of_stage != nullptr ? of_stage({memory_of(kind, begin, end)})
                                        : rate.fixed + rate.per_nanosecond * time;
      }
      for (Label<D> label : arrived[at(begin)]) {
        label.costs[0] += time;
        label.costs[1] = std::max(label.costs[1], busy);
        if constexpr (D > 2) {
          for (std::size_t i = 0; i < also_.size(); ++i) {
            label.costs[2 + i] =
                combined(also_[i]->searched->stages, label.costs[2 + i], values[i]);
          }
        }
        leaving.push_back(label);
      }
    };
    if (!kind.begins.empty()) {
      for (const int begin : kind.begins[at(end)]) run_stage(begin);
      return;
    }
    for (int begin = end - 1; begin >= 0; --begin) {
      if (!tables_.is_all(begin, end)) run_stage(begin);
    }
  }

  std::int64_t memory_of(const Kind& kind, int begin, int end) const {
    return stage_memory_bytes(inputs_.devices[at(kind.devices.front())],
                              tables_.positions[at(begin)], tables_.positions[at(end)]);
  }

  void leave(const Label<D>& label, std::size_t usage, const Kind& kind, int exit, int end) {
    for (const int index : kind.hops) {
      const Hop& hop = tables_.hops[at(index)];
      if (hop.exit != exit || (hop.to < 0) != (end == tables_.last())) continue;
      if (hop.to >= 0 && tables_.used(usage, hop.to) == tables_.kinds[at(hop.to)].count()) continue;
      cross(label, index, usage, end);
    }
  }

  void cross(Label<D> label, int index, std::size_t usage, int position) {
    const Hop& hop = tables_.hops[at(index)];
    const std::int64_t occupancy = hop.occupancy[at(position)];
    label.hop = index;
    const Times& delay = tables_.is_first(usage, hop.from) ? hop.first_delay : hop.delay;
    label.costs[0] += occupancy + delay[at(position)];
    label.costs[1] = std::max(label.costs[1], occupancy);
    if constexpr (D > 2) {
      for (std::size_t i = 0; i < also_.size(); ++i) {
        label.costs[2 + i] =
            combined(also_[i]->searched->stages, label.costs[2 + i], hop.values[i][at(position)]);
      }
      load_media(hop, position, label);
    }
    if (hop.to < 0) {
      complete(label);
    } else {
      pending(usage + tables_.kinds[at(hop.to)].stride, hop.entry, position).push_back(label);
      ++waiting_;
    }
  }

  void load_media(const Hop& hop, int position, Label<D>& label) const {
    std::int64_t of_receiver = 0;
    for (const MediumTimes& medium : hop.media) {
      const std::int64_t time = medium.times[at(position)];
      if (medium.of == MediumRole::Of::kReceiver) {
        of_receiver = time;
        continue;
      }
      const bool own = medium.of == MediumRole::Of::kSender;
      std::int64_t& load =
          label.costs[at(own ? layout_.own_medium : layout_.first_medium + medium.number)];
      load += time;
      label.costs[1] = std::max(label.costs[1], load);
    }
    const bool any_own = layout_.own_medium < layout_.first_medium;
    if (any_own) label.costs[at(layout_.own_medium)] = of_receiver;
  }

  void complete(const Label<D>& label) {
    Criteria criteria = criteria_of(label);
    criteria.latency = std::max(criteria.latency, criteria.bottleneck);
    if (!front_.add(criteria, witnesses_.size())) return;
    std::vector<TracedStage> stages;
    std::vector<int> hops{label.hop};
    int end = tables_.last();
    for (std::int32_t step = label.parent; step >= 0; step = steps_[at(step)].parent) {
      const Step& arrival = steps_[at(step)];
      stages.push_back({tables_.hops[at(arrival.hop)].to, arrival.position, end});
      hops.push_back(arrival.hop);
      end = arrival.position;
    }
    std::ranges::reverse(stages);
    std::ranges::reverse(hops);
    witnesses_.push_back(to_placement(tables_, stages, hops));
  }

  double label_bytes() const {
    return static_cast<double>(waiting_) * sizeof(Label<D>) +
           static_cast<double>(steps_.size()) * sizeof(Step);
  }

  std::vector<Label<D>>& pending(std::size_t usage, int entry, int position) {
    return pending_[(usage * tables_.entries.size() + at(entry)) * row_ + at(position)];
  }

  const planning::CostInputs& inputs_;
  const AlsoObjectives& also_;
  const Layout layout_;
  PointFront& front_;
  std::vector<planning::Placement>& witnesses_;
  SearchTables tables_;
  LabelBounds bounds_;
  std::size_t row_;
  std::vector<std::vector<Label<D>>> pending_;  ///< arrived, by usage, entry and position
  std::vector<Step> steps_;
  std::size_t waiting_ = 0;       ///< labels that have arrived and not been looked at
  std::int64_t comparisons_ = 0;  ///< comparisons that are left; less than 0: too many were needed
};

template <int D>
Expected<> search_grids(const planning::CostInputs& inputs, const SearchOptions& options,
                        const Layout& layout, PointFront& front,
                        std::vector<planning::Placement>& witnesses) {
  // A number of each program, and the labels that have arrived.
  const std::size_t cell_bytes =
      (kMostRungs + options.also.size()) * sizeof(double) + sizeof(std::vector<Label<D>>);
  PARETO_TRY(check_size(make_tables(inputs, options.also, 1), cell_bytes));
  std::int64_t comparisons = options.comparisons;
  for (const int step : {16, 4, 1}) {
    // On a few positions a coarse grid is no help.
    if (step > 1 && inputs.positions() < 4 * step) continue;
    PARETO_TRY(LabelGrid<D>(inputs, options, layout, step, front, witnesses).run(comparisons));
  }
  return {};
}

/// Searches with as many criteria as the layout has, D at least.
template <int D>
Expected<> search_grids_of(const planning::CostInputs& inputs, const SearchOptions& options,
                           const Layout& layout, PointFront& front,
                           std::vector<planning::Placement>& witnesses) {
  if constexpr (D < kMostCriteria) {
    if (layout.criteria > D) {
      return search_grids_of<D + 1>(inputs, options, layout, front, witnesses);
    }
  }
  return search_grids<D>(inputs, options, layout, front, witnesses);
}

class LabelSearch final : public SearchStrategy {
 public:
  std::string_view name() const override { return "labels"; }

  Expected<std::vector<FrontPoint>> search(const planning::CostInputs& inputs,
                                           const SearchOptions& options) const override {
    PARETO_TRY(check_search(inputs, options));
    const MediaRoles media = media_roles(inputs);
    if (media.of_several > kMostSharedMedia) {
      return fail(ErrorCode::kExhausted,
                  "{} devices have {} names under `medium` that several of them have, and plans "
                  "are searched with {} at most: leave devices out, or names",
                  inputs.devices.size(), media.of_several, kMostSharedMedia);
    }
    if (options.also.size() > static_cast<std::size_t>(kMostAlso)) {
      return fail(ErrorCode::kExhausted,
                  "plans are searched by {} objectives at most next to latency and throughput: "
                  "name fewer",
                  kMostAlso);
    }
    PointFront front(options.windows, options.also);
    std::vector<planning::Placement> witnesses;
    add_lone_devices(inputs, options, front, witnesses);
    PARETO_TRY(add_replicas(inputs, options, front, witnesses));
    PARETO_TRY(search_grids_of<2>(inputs, options, Layout(options.also, media), front, witnesses));
    return with_placements(front, witnesses, inputs, options);
  }
};

}  // namespace

const SearchStrategy* label_search() {
  static const LabelSearch kSearch;
  return &kSearch;
}

}  // namespace pareto::search
