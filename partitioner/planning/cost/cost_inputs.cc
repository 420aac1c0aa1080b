#include "partitioner/planning/cost/cost_inputs.h"

#include <algorithm>
#include <set>
#include <string>

namespace pareto::planning {
namespace {

/// The longest times on a link, and in a processor. A plan's latency is then below 2^53 ns, which
/// even a double holds exactly. Its bottleneck times the largest window, and its energy at the
/// largest power, are below 2^63.
constexpr Nanoseconds kLongestOnLink = std::chrono::hours(1);
constexpr Nanoseconds kLongestInProcessor = std::chrono::minutes(4);
/// A time in ns that is longer than any other, and exact as a double.
constexpr double kNoTime = 1e15;
/// The largest numbers of a StageRate. Sums over all devices of a plan then stay exact.
constexpr std::int64_t kMostPerNanosecond = 1'000'000;
constexpr std::int64_t kMostFixed = 1'000'000'000'000;

const LinkCodec& codec_of(const LinkCosts& link, int codec) {
  static const LinkCodec kNone;
  return link.codecs.empty() ? kNone : link.codecs[static_cast<std::size_t>(codec)];
}

/// Returns the times of a message of `bytes` on the wire. `points` is not empty.
LinkTimes interpolated(const std::vector<LinkPoint>& points, double bytes) {
  if (points.size() == 1 || bytes <= static_cast<double>(points.front().bytes)) {
    return points.front().times;
  }
  std::size_t next = 1;
  while (next + 1 < points.size() && static_cast<double>(points[next].bytes) < bytes) ++next;
  const LinkPoint& a = points[next - 1];
  const LinkPoint& b = points[next];
  const double part =
      (bytes - static_cast<double>(a.bytes)) / static_cast<double>(b.bytes - a.bytes);
  const auto between = [&](Nanoseconds LinkTimes::*time) {
    const auto from = static_cast<double>((a.times.*time).count());
    const auto to = static_cast<double>((b.times.*time).count());
    return from_nanoseconds(std::clamp(from + part * (to - from), 0.0, kNoTime));
  };
  return {between(&LinkTimes::occupancy), between(&LinkTimes::delay), between(&LinkTimes::send),
          between(&LinkTimes::receive)};
}

bool is_time(Nanoseconds time, Nanoseconds longest) { return time.count() >= 0 && time <= longest; }
bool is_factor(double factor) { return factor >= 0 && std::isfinite(factor); }

/// Returns whether the sums descend along no stage.
template <typename T>
bool ascends(const std::vector<T>& sums, const std::vector<std::vector<int>>& ends) {
  if (ends.empty()) return std::ranges::is_sorted(sums);
  for (std::size_t begin = 0; begin < ends.size(); ++begin) {
    for (const int end : ends[begin]) {
      if (sums[static_cast<std::size_t>(end)] < sums[begin]) return false;
    }
  }
  return true;
}

Expected<> check_ends(const CostInputs& inputs) {
  const std::size_t positions = inputs.boundary_bytes.size();
  if (inputs.ends.empty()) return {};
  bool sound = inputs.ends.size() == positions;
  for (std::size_t begin = 0; sound && begin < positions; ++begin) {
    const std::vector<int>& ends = inputs.ends[begin];
    sound = std::ranges::is_sorted(ends) &&
            (ends.empty() ||
             (ends.front() > static_cast<int>(begin) && ends.back() < static_cast<int>(positions)));
  }
  if (!sound) {
    return fail(ErrorCode::kInvalidArgument, "ends have to be {} rows, each of later positions",
                positions);
  }
  return {};
}

template <typename T>
Expected<> check_prefix_sums(const std::vector<T>& sums, const CostInputs& inputs,
                             const char* what) {
  const std::size_t positions = inputs.boundary_bytes.size();
  if (sums.size() != positions || sums.front() != T{} || !ascends(sums, inputs.ends)) {
    return fail(ErrorCode::kInvalidArgument,
                "{} has to be {} prefix sums, which begin with 0 and do not descend", what,
                positions);
  }
  return {};
}

Expected<> check_stages(const CostInputs& inputs, const StageCosts& costs) {
  PARETO_TRY(check_prefix_sums(costs.compute, inputs, "compute"));
  const auto in_range = [](Nanoseconds time) { return is_time(time, kLongestInProcessor); };
  if (!costs.enter.empty() && (costs.enter.size() != inputs.boundary_bytes.size() ||
                               !std::ranges::all_of(costs.enter, in_range))) {
    return fail(ErrorCode::kInvalidArgument,
                "enter has to be {} times, none negative or longer than four minutes",
                inputs.boundary_bytes.size());
  }
  if (!in_range(costs.compute.back()) || !in_range(costs.overhead) ||
      (costs.whole && !in_range(*costs.whole))) {
    return fail(ErrorCode::kInvalidArgument, "a time is negative or longer than four minutes");
  }
  return {};
}

Expected<> check_early(const CostInputs& inputs, const DeviceCosts& device) {
  if (device.early.empty()) return {};
  if (device.early.size() != inputs.boundary_bytes.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} positions of early values, not {}",
                device.early.size(), inputs.boundary_bytes.size());
  }
  for (int position = 0; position <= inputs.positions(); ++position) {
    std::int64_t left = inputs.boundary(position);
    const auto& early = device.early[static_cast<std::size_t>(position)];
    if (!std::ranges::is_sorted(early, std::ranges::greater{}, &EarlyValue::lead)) {
      return fail(ErrorCode::kInvalidArgument, "early values at {} have to be in the order made",
                  position);
    }
    for (const EarlyValue& value : early) {
      if (value.bytes < 0 || value.bytes > left || !is_time(value.lead, kLongestInProcessor)) {
        return fail(ErrorCode::kInvalidArgument,
                    "an early value at {} has {} bytes of {}, or a lead out of range", position,
                    value.bytes, left);
      }
      left -= value.bytes;
    }
  }
  return {};
}

Expected<> check_device(const CostInputs& inputs, const DeviceCosts& device) {
  PARETO_TRY(check_stages(inputs, device));
  if (device.busy) PARETO_TRY(with_context(check_stages(inputs, *device.busy), "when busy"));
  if (!device.weight_bytes.empty()) {
    PARETO_TRY(check_prefix_sums(device.weight_bytes, inputs, "weight_bytes"));
  }
  for (const SharedWeight& weight : device.shared_weights) {
    PARETO_TRY(check_prefix_sums(weight.uses, inputs, "uses of a shared weight"));
    if (weight.bytes < 0) {
      return fail(ErrorCode::kInvalidArgument, "a shared weight of less than no bytes");
    }
  }
  const std::size_t positions = inputs.boundary_bytes.size();
  if (!device.crossing_bytes.empty() && device.crossing_bytes.size() != positions) {
    return fail(ErrorCode::kInvalidArgument, "crossing_bytes has {} rows for {} positions",
                device.crossing_bytes.size(), positions);
  }
  const bool negative =
      std::ranges::any_of(device.crossing_bytes, [](std::int64_t bytes) { return bytes < 0; });
  if (negative || device.memory_limit_bytes < 0) {
    return fail(ErrorCode::kInvalidArgument, "a memory is out of range");
  }
  for (const Objective* const objective : searched_objectives()) {
    if (objective->searched->rate == nullptr) continue;
    const StageRate rate = objective->searched->rate(device.figures);
    const bool in_range = rate.fixed >= 0 && rate.fixed <= kMostFixed && rate.per_nanosecond >= 0 &&
                          rate.per_nanosecond <= kMostPerNanosecond;
    if (!in_range) {
      return fail(ErrorCode::kInvalidArgument, "its figures make {} out of range",
                  objective->title);
    }
  }
  PARETO_TRY(check_early(inputs, device));
  const bool in_order = std::ranges::all_of(device.too_large, [&](const auto& range) {
    return range.first >= 0 && range.first < range.second && range.second <= inputs.positions();
  });
  if (!in_order) {
    return fail(ErrorCode::kInvalidArgument, "too_large has to be pairs of positions in order");
  }
  if (!std::ranges::all_of(device.jitter,
                           [](double factor) { return factor > 0 && std::isfinite(factor); })) {
    return fail(ErrorCode::kInvalidArgument, "jitter has to be factors above 0");
  }
  return {};
}

Error bad_time() {
  return {ErrorCode::kInvalidArgument,
          "a time is negative or longer than an hour, in a processor four minutes"};
}

Expected<> check_times(const LinkTimes& times) {
  if (is_time(times.occupancy, kLongestOnLink) && is_time(times.delay, kLongestOnLink) &&
      is_time(times.send, kLongestInProcessor) && is_time(times.receive, kLongestInProcessor)) {
    return {};
  }
  return tl::unexpected(bad_time());
}

Expected<> check_points(const std::vector<LinkPoint>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].bytes < 0 || (i > 0 && points[i].bytes <= points[i - 1].bytes)) {
      return fail(ErrorCode::kInvalidArgument, "measured points have to ascend in bytes");
    }
    PARETO_TRY(check_times(points[i].times));
  }
  return {};
}

/// Checks the crossing of a boundary that nothing at this position is larger than.
Expected<> check_crossing(const LinkCosts& link, int codec, int position, std::int64_t boundary) {
  const LinkCodec& chosen = codec_of(link, codec);
  const CodecFigures& figures = chosen.figures_at(position);
  if (!is_factor(figures.bytes_factor) || !is_factor(figures.encode_ns_per_byte) ||
      !is_factor(figures.decode_ns_per_byte) || figures.loss < 0) {
    return fail(ErrorCode::kInvalidArgument, "codec {}: a number is negative or none", chosen.name);
  }
  // Doubles, because a rounded one could be out of range.
  const auto bytes = static_cast<double>(boundary);
  const double on_wire =
      link.bytes_per_second > 0 ? bytes * figures.bytes_factor / link.bytes_per_second * 1e9 : 0;
  const double in_processor =
      bytes * std::max(link.send_ns_per_byte + figures.encode_ns_per_byte,
                       link.receive_ns_per_byte + figures.decode_ns_per_byte);
  if (on_wire > to_nanoseconds(kLongestOnLink) ||
      in_processor > to_nanoseconds(kLongestInProcessor)) {
    return tl::unexpected(bad_time());
  }
  return check_times(link_times(link, codec, position, boundary));
}

Expected<> check_codec(const CostInputs& inputs, const LinkCosts& link, int codec) {
  const LinkCodec& chosen = codec_of(link, codec);
  PARETO_TRY(with_context(check_points(chosen.measured), "codec {}", chosen.name));
  // The largest boundary takes longest in all positions.
  if (chosen.by_position.empty()) {
    return check_crossing(link, codec, 0, std::ranges::max(inputs.boundary_bytes));
  }
  if (chosen.by_position.size() != inputs.boundary_bytes.size()) {
    return fail(ErrorCode::kInvalidArgument, "codec {} has figures of {} positions of {}",
                chosen.name, chosen.by_position.size(), inputs.boundary_bytes.size());
  }
  for (int position = 0; position <= inputs.positions(); ++position) {
    PARETO_TRY(check_crossing(link, codec, position, inputs.boundary(position)));
  }
  return {};
}

Expected<> check_link(const CostInputs& inputs, const LinkCosts& link) {
  std::set<int> media;
  const bool all_faster =
      std::ranges::none_of(link.media, [](const MediumUse& use) { return use.share == 1; });
  if (!link.media.empty() && all_faster) {
    return fail(ErrorCode::kInvalidArgument, "none of its media has a share of 1: the slowest has");
  }
  for (const MediumUse& use : link.media) {
    if (use.medium < 0 || use.medium >= inputs.media || !(use.share > 0 && use.share <= 1) ||
        !media.insert(use.medium).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "medium {} of {} with a share of {}: each once, above 0 and up to 1", use.medium,
                  inputs.media, use.share);
    }
  }
  if (!is_factor(link.bytes_per_second) || !is_factor(link.send_ns_per_byte) ||
      !is_factor(link.receive_ns_per_byte)) {
    return fail(ErrorCode::kInvalidArgument, "a rate is negative or no number");
  }
  PARETO_TRY(check_points(link.measured));
  PARETO_TRY(check_times({link.message, link.delay, link.send, link.receive}));
  for (int codec = 0; codec < codec_count(link); ++codec) {
    PARETO_TRY(check_codec(inputs, link, codec));
  }
  return {};
}

}  // namespace

int codec_count(const LinkCosts& link) { return std::max(1, static_cast<int>(link.codecs.size())); }

const CodecFigures& codec_figures(const LinkCosts& link, int codec, int position) {
  return codec_of(link, codec).figures_at(position);
}

Expected<> check(const CostInputs& inputs) {
  const std::size_t positions = inputs.boundary_bytes.size();
  if (positions < 2 || inputs.legal.size() != positions) {
    return fail(
        ErrorCode::kInvalidArgument,
        "there have to be two positions or more, each legal or not: {} boundaries, {} flags",
        positions, inputs.legal.size());
  }
  if (std::ranges::any_of(inputs.boundary_bytes, [](std::int64_t bytes) { return bytes < 0; })) {
    return fail(ErrorCode::kInvalidArgument, "a boundary of less than no bytes");
  }
  PARETO_TRY(check_ends(inputs));
  if (inputs.devices.empty()) return fail(ErrorCode::kInvalidArgument, "no device");
  for (const DeviceCosts& device : inputs.devices) {
    PARETO_TRY(with_context(check_device(inputs, device), "device {}", device.name));
  }
  const std::size_t ends = inputs.devices.size() + 1;
  const bool square =
      inputs.links.size() == ends &&
      std::ranges::all_of(inputs.links, [ends](const auto& row) { return row.size() == ends; });
  if (!square) {
    return fail(ErrorCode::kInvalidArgument, "links have to be {} rows of {}", ends, ends);
  }
  for (std::size_t from = 0; from < ends; ++from) {
    for (std::size_t to = 0; to < ends; ++to) {
      PARETO_TRY(
          with_context(check_link(inputs, inputs.links[from][to]), "link from {} to {}", from, to));
    }
  }
  return {};
}

LinkTimes link_times(const LinkCosts& link, int codec, int position, std::int64_t boundary_bytes) {
  const LinkCodec& chosen = codec_of(link, codec);
  const CodecFigures& figures = chosen.figures_at(position);
  const std::vector<LinkPoint>& measured =
      chosen.measured.empty() ? link.measured : chosen.measured;
  const auto bytes = static_cast<double>(boundary_bytes);
  if (!measured.empty()) {
    LinkTimes times = interpolated(measured, bytes * figures.bytes_factor);
    times.send += from_nanoseconds(bytes * figures.encode_ns_per_byte);
    times.receive += from_nanoseconds(bytes * figures.decode_ns_per_byte);
    return times;
  }
  LinkTimes times;
  times.occupancy = link.message;
  if (link.bytes_per_second > 0) {
    times.occupancy += from_nanoseconds(bytes * figures.bytes_factor / link.bytes_per_second * 1e9);
  }
  times.delay = link.delay;
  times.send =
      link.send + from_nanoseconds(bytes * (link.send_ns_per_byte + figures.encode_ns_per_byte));
  times.receive = link.receive +
                  from_nanoseconds(bytes * (link.receive_ns_per_byte + figures.decode_ns_per_byte));
  return times;
}

LinkTimes crossing_times(const CostInputs& inputs, int from, int to, int codec, int begin,
                         int position) {
  const LinkCosts& link = inputs.link(from, to);
  LinkTimes times = link_times(link, codec, position, inputs.boundary(position));
  if (from == inputs.coordinator() || begin > 0) return times;
  const auto& early = inputs.devices[static_cast<std::size_t>(from)].early;
  const auto at = static_cast<std::size_t>(position);
  if (early.empty() || early[at].empty()) return times;
  // The time when the link is free, counted from the end of the stage.
  Nanoseconds free = -early[at].front().lead;
  std::int64_t rest = inputs.boundary(position);
  for (const EarlyValue& value : early[at]) {
    free = std::max(free, -value.lead) + link_times(link, codec, position, value.bytes).occupancy;
    rest -= value.bytes;
  }
  const LinkTimes last = link_times(link, codec, position, rest);
  const Nanoseconds all = times.occupancy + times.delay;
  // A link may let some bytes pass at once (a token bucket). It does so for all parts together:
  // parts that follow each other are delayed like the whole.
  const Nanoseconds left = last.occupancy + std::max(last.delay, free + times.delay);
  times.delay = std::min(all, left) - times.occupancy;
  return times;
}

bool has_room(const CostInputs& inputs, const DeviceCosts& device, int begin, int end) {
  const auto no_later = [&](int one, int other) {
    return one == other || inputs.may_lie(one, other);
  };
  return stage_memory_bytes(device, begin, end) <= device.memory_limit_bytes &&
         std::ranges::none_of(device.too_large, [&](const auto& range) {
           return no_later(begin, range.first) && no_later(range.second, end);
         });
}

std::int64_t stage_memory_bytes(const DeviceCosts& device, int begin, int end) {
  const auto first = static_cast<std::size_t>(begin);
  const auto last = static_cast<std::size_t>(end);
  std::int64_t bytes = 0;
  if (!device.weight_bytes.empty()) bytes = device.weight_bytes[last] - device.weight_bytes[first];
  for (const SharedWeight& weight : device.shared_weights) {
    if (weight.uses[first] > 0 && weight.uses[last] > weight.uses[first]) bytes += weight.bytes;
  }
  if (device.crossing_bytes.empty()) return bytes;
  return bytes + device.crossing_bytes[first] + device.crossing_bytes[last];
}

}  // namespace pareto::planning
