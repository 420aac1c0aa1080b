// Every placement, one after the other, by plain recursion over stages. It shares nothing with the
// other strategies but the front it fills, so that agreeing with it means something.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/strategies.h"

namespace pareto::search {
namespace {

/// Placements of K devices on N operators grow with K! times N choose K - 1, and with the codecs of
/// all their links.
constexpr double kMostPlacements = 1e9;

class Enumeration {
 public:
  Enumeration(const planning::CostInputs& inputs, const SearchOptions& options)
      : inputs_(inputs),
        options_(options),
        front_(options.windows, options.also),
        used_(inputs.devices.size(), false),
        media_(static_cast<std::size_t>(inputs.media), 0) {}

  Expected<std::vector<FrontPoint>> run() {
    begin_stage(inputs_.coordinator(), {}, 0);
    if (options_.replicas) add_replicas(0, {});
    return with_placements(front_, witnesses_, inputs_, options_);
  }

 private:
  struct Sums {
    std::int64_t latency = 0;
    std::int64_t bottleneck = 1;
    planning::Values also{};
  };

  /// Adds a part of a pipeline to each value. It is written again here, and not taken from
  /// plan_values.h, because other searches are judged by this one.
  template <typename Part>
  void add_to(planning::Values& values, Part part) const {
    for (std::size_t i = 0; i < options_.also.size(); ++i) {
      const planning::SearchedFigure& figure = *options_.also[i]->searched;
      const std::int64_t more = part(figure);
      values[i] =
          figure.stages == planning::Combine::kSum ? values[i] + more : std::max(values[i], more);
    }
  }
  void add_stage(planning::Values& values, const planning::DeviceCosts& device, std::int64_t time,
                 std::int64_t memory) const {
    add_to(values, [&](const planning::SearchedFigure& figure) -> std::int64_t {
      if (figure.of_stage != nullptr) return figure.of_stage({memory});
      if (figure.rate == nullptr) return 0;
      const planning::StageRate rate = figure.rate(device.figures);
      return rate.fixed + rate.per_nanosecond * time;
    });
  }

  /// Sends position `begin` from a device (or the source) to every other that is free.
  void begin_stage(int from, const Sums& sums, int begin) {
    for (int device = 0; device < inputs_.coordinator(); ++device) {
      const planning::DeviceCosts& costs = inputs_.devices[static_cast<std::size_t>(device)];
      if (used_[static_cast<std::size_t>(device)] || (begin == 0 && !costs.may_be_first)) continue;
      used_[static_cast<std::size_t>(device)] = true;
      over_link(from, device, sums, begin, [&](const Sums& there, std::int64_t receive) {
        for (int end = begin + 1; end <= inputs_.positions(); ++end) {
          if (may_end(begin, end)) end_stage(device, there, receive, begin, end);
        }
      });
      used_[static_cast<std::size_t>(device)] = false;
    }
  }

  bool may_end(int begin, int end) const {
    return inputs_.may_cut(end) && inputs_.may_lie(begin, end);
  }

  void end_stage(int device, const Sums& sums, std::int64_t receive, int begin, int end) {
    const planning::DeviceCosts& costs = inputs_.devices[static_cast<std::size_t>(device)];
    const std::int64_t memory = planning::stage_memory_bytes(costs, begin, end);
    const bool last = end == inputs_.positions();
    if (!planning::has_room(inputs_, costs, begin, end) || (last && !costs.may_be_last)) return;
    placement_.stages.push_back({device, begin, end});
    const std::int64_t computed = costs.time(begin, end).count();
    const std::int64_t busy = costs.when_busy().time(begin, end).count();
    // What the stage takes depends on the link it sends over, so it ends with one.
    const auto with_send = [&](Sums there, std::int64_t send) {
      const std::int64_t time = receive + computed + send;
      there.latency += time;
      there.bottleneck = std::max(there.bottleneck, receive + busy + send);
      add_stage(there.also, costs, time, memory);
      return there;
    };
    if (last) {
      for_each_codec(device, inputs_.coordinator(), begin, end,
                     [&](const planning::LinkTimes& times, int codec) {
                       crossing(device, inputs_.coordinator(), codec, end, times,
                                with_send(sums, times.send.count()),
                                [&](const Sums& all) { complete(all); });
                     });
    } else {
      for (int next = 0; next < inputs_.coordinator(); ++next) {
        if (used_[static_cast<std::size_t>(next)]) continue;
        used_[static_cast<std::size_t>(next)] = true;
        for_each_codec(device, next, begin, end, [&](const planning::LinkTimes& times, int codec) {
          crossing(device, next, codec, end, times, with_send(sums, times.send.count()),
                   [&](const Sums& there) {
                     for (int further = end + 1; further <= inputs_.positions(); ++further) {
                       if (may_end(end, further)) {
                         end_stage(next, there, times.receive.count(), end, further);
                       }
                     }
                   });
        });
        used_[static_cast<std::size_t>(next)] = false;
      }
    }
    placement_.stages.pop_back();
  }

  template <typename Then>
  void over_link(int from, int to, const Sums& sums, int position, Then then) {
    for_each_codec(from, to, 0, position, [&](const planning::LinkTimes& times, int codec) {
      crossing(from, to, codec, position, times, sums,
               [&](const Sums& there) { then(there, times.receive.count()); });
    });
  }

  /// Calls `then` for each codec of a message that a stage of [begin, position) sends.
  template <typename Then>
  void for_each_codec(int from, int to, int begin, int position, Then then) {
    const planning::LinkCosts& link = inputs_.link(from, to);
    if (!link.usable) return;
    for (int codec = 0; codec < planning::codec_count(link); ++codec) {
      then(planning::crossing_times(inputs_, from, to, codec, begin, position), codec);
    }
  }

  template <typename Then>
  void crossing(int from, int to, int codec, int position, const planning::LinkTimes& times,
                Sums sums, Then then) {
    const planning::LinkCosts& link = inputs_.link(from, to);
    const std::int64_t occupancy = times.occupancy.count();
    sums.latency += occupancy + times.delay.count();
    sums.bottleneck = std::max(sums.bottleneck, occupancy);
    const planning::CodecFigures& codec_does = planning::codec_figures(link, codec, position);
    const auto boundary = static_cast<double>(inputs_.boundary(position));
    const planning::HopView hop{std::llround(boundary * codec_does.bytes_factor), codec_does.loss};
    add_to(sums.also, [&](const planning::SearchedFigure& figure) -> std::int64_t {
      return figure.of_hop == nullptr ? 0 : figure.of_hop(hop);
    });
    const auto load_media = [&](int sign) {
      for (const planning::MediumUse& use : link.media) {
        media_[static_cast<std::size_t>(use.medium)] += sign * use.time(times.occupancy).count();
      }
    };
    load_media(1);
    placement_.codecs.push_back(codec);
    then(sums);
    placement_.codecs.pop_back();
    load_media(-1);
  }

  /// The whole model on each device of every choice of those from `device` on, next to those that
  /// take turns already.
  void add_replicas(int device, const Sums& sums) {
    if (device == inputs_.coordinator()) return complete_turn(sums);
    add_replicas(device + 1, sums);
    const planning::DeviceCosts& costs = inputs_.devices[static_cast<std::size_t>(device)];
    const int end = inputs_.positions();
    if (!costs.may_be_first || !costs.may_be_last || !may_end(0, end) ||
        !planning::has_room(inputs_, costs, 0, end)) {
      return;
    }
    placement_.stages.push_back({device, 0, end});
    over_link(inputs_.coordinator(), device, {}, 0, [&](const Sums& there, std::int64_t receive) {
      for_each_codec(
          device, inputs_.coordinator(), 0, end, [&](const planning::LinkTimes& times, int codec) {
            const std::int64_t messages = receive + times.send.count();
            const std::int64_t time = messages + costs.time(0, end).count();
            Sums one = there;
            one.latency += time;
            one.bottleneck =
                std::max(one.bottleneck, messages + costs.when_busy().time(0, end).count());
            add_stage(one.also, costs, time, planning::stage_memory_bytes(costs, 0, end));
            crossing(device, inputs_.coordinator(), codec, end, times, one, [&](const Sums& all) {
              Sums turn{std::max(sums.latency, all.latency),
                        std::max(sums.bottleneck, all.bottleneck), sums.also};
              for (std::size_t i = 0; i < options_.also.size(); ++i) {
                const bool adds =
                    options_.also[i]->searched->replicas != planning::Combine::kMaximum;
                turn.also[i] =
                    adds ? sums.also[i] + all.also[i] : std::max(sums.also[i], all.also[i]);
              }
              add_replicas(device + 1, turn);
            });
          });
    });
    placement_.stages.pop_back();
  }

  void complete_turn(Sums sums) {
    const auto devices = static_cast<std::int64_t>(placement_.stages.size());
    if (devices < 2) return;  // a lone device is a pipeline
    for (std::size_t i = 0; i < options_.also.size(); ++i) {
      if (options_.also[i]->searched->replicas != planning::Combine::kMean) continue;
      sums.also[i] = (sums.also[i] + devices - 1) / devices;
    }
    Criteria criteria = criteria_of(sums);
    if (const std::int64_t more = criteria.bottleneck % devices; more > 0) {
      criteria.bottleneck += devices - more;
      criteria.latency = std::max(criteria.latency, criteria.bottleneck);
    }
    const planning::Evaluation turn{.latency = Nanoseconds(criteria.latency),
                                    .bottleneck = Nanoseconds(criteria.bottleneck),
                                    .turn = static_cast<int>(devices)};
    bool kept = false;
    for (const planning::OperatingPoint& point :
         planning::operating_points(turn, options_.windows)) {
      kept = front_.add(point, criteria.also, witnesses_.size()) || kept;
    }
    if (!kept) return;
    witnesses_.push_back(placement_);
    witnesses_.back().replicated = true;
  }

  /// Returns the criteria of a placement that is whole.
  Criteria criteria_of(const Sums& sums) const {
    Criteria criteria{sums.latency, sums.bottleneck, sums.also};
    for (const std::int64_t load : media_)
      criteria.bottleneck = std::max(criteria.bottleneck, load);
    criteria.latency = std::max(criteria.latency, criteria.bottleneck);
    return criteria;
  }

  void complete(const Sums& sums) {
    if (front_.add(criteria_of(sums), witnesses_.size())) witnesses_.push_back(placement_);
  }

  const planning::CostInputs& inputs_;
  const SearchOptions& options_;
  PointFront front_;
  std::vector<planning::Placement> witnesses_;
  std::vector<bool> used_;
  std::vector<std::int64_t> media_;
  planning::Placement placement_;
};

/// Returns the most placements: without memory limits and pins, and as if all links had as many
/// codecs as that with most.
double placements(const planning::CostInputs& inputs) {
  double cuts = 0;
  for (int position = 1; position < inputs.positions(); ++position)
    cuts += inputs.may_cut(position);
  double outer = 1;  // codecs of a link from the source or to the sink
  double inner = 1;  // … and of one between devices
  for (int from = 0; from <= inputs.coordinator(); ++from) {
    for (int to = 0; to <= inputs.coordinator(); ++to) {
      if (from == to || !inputs.link(from, to).usable) continue;
      double& most = std::max(from, to) == inputs.coordinator() ? outer : inner;
      most = std::max(most, static_cast<double>(planning::codec_count(inputs.link(from, to))));
    }
  }
  // Replicas: each device has none of the model, or all of it by one of its ways.
  double all = std::pow(1 + outer * outer, static_cast<double>(inputs.devices.size()));
  double of_stages = static_cast<double>(inputs.devices.size()) * outer * outer;
  for (std::size_t stages = 1; stages <= inputs.devices.size(); ++stages) {
    all += of_stages;
    const auto cut = static_cast<double>(stages);
    of_stages *= inner * (static_cast<double>(inputs.devices.size()) - cut) *
                 std::max(0.0, cuts - cut + 1) / cut;
  }
  return all;
}

class ExhaustiveSearch final : public SearchStrategy {
 public:
  std::string_view name() const override { return "exhaustive"; }

  Expected<std::vector<FrontPoint>> search(const planning::CostInputs& inputs,
                                           const SearchOptions& options) const override {
    PARETO_TRY(check_search(inputs, options));
    const double count = placements(inputs);
    if (count > kMostPlacements) {
      return fail(ErrorCode::kExhausted,
                  "{:.0e} placements on {} devices are too many to try all: leave devices out, cut "
                  "the model at fewer places, choose from fewer transports and codecs, or take "
                  "another search",
                  count, inputs.devices.size());
    }
    return Enumeration(inputs, options).run();
  }
};

}  // namespace

const SearchStrategy* exhaustive_search() {
  static const ExhaustiveSearch kSearch;
  return &kSearch;
}

}  // namespace pareto::search
