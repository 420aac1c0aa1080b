#include "coordinator/profile/profile_subject.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace pareto::profile {
namespace {

constexpr int kOperatorRepeats = 5;
constexpr int kLoneRequests = 5;
/// Time for which a busy stage is watched, in the yardstick's times.
constexpr int kBusyYardsticks = 6;
/// A device with room for the whole model is watched under load, with its machine to itself, before
/// every cut of this many.
constexpr int kCutsAWhole = 6;

void sort_longest_first(std::vector<plan::OperatorRange>& ranges) {
  std::ranges::stable_sort(ranges, std::ranges::greater{}, [](const plan::OperatorRange& range) {
    return range.end - range.begin;
  });
}

std::array<plan::OperatorRange, 2> sides_of(std::int64_t cut, std::int64_t operators) {
  return {plan::OperatorRange{0, cut}, plan::OperatorRange{cut, operators}};
}

plan::OperatorRange range_of(const StageMeter& meter) {
  return {meter.shard().begin, meter.shard().end};
}

Expected<> no_time(const cluster::DaemonClient& device) {
  return fail(ErrorCode::kCorrupt, "{} ran a shard in no time", device.config().name);
}

}  // namespace

Expected<> ProfileSubject::begin(const std::optional<plan::DeviceProfile>& known) {
  if (known) room_.take_over(*known);
  yardstick_ = {0, request_.operators};
  PARETO_ASSIGN(const cluster::ShardLease whole, room_.load(yardstick_));
  if (whole) {
    PARETO_TRY(time_operators(*whole));
  } else {
    PARETO_TRY(time_pieces());
    PARETO_TRY(find_yardstick(known));
  }
  // The first requests find everything cold.
  PARETO_ASSIGN(StageMeter * yardstick, yardstick_meter());
  PARETO_ASSIGN(const Value request, request_for(*yardstick));
  PARETO_TRY(yardstick->lone(request, kLoneRequests));
  return lone_yardstick();
}

Expected<> ProfileSubject::take_up(std::int64_t cut) {
  cut_ = cut;
  crossing_.reset();
  const bool whole_fits = yardstick_ == plan::OperatorRange{0, request_.operators};
  if (whole_fits && cuts_++ % kCutsAWhole == 0) {
    PARETO_ASSIGN(StageMeter * whole, yardstick_meter());
    PARETO_ASSIGN(const BusyTimes times, whole->busy(bench_.request, busy_time()));
    samples_.add_unshared_yardstick(times.interval);
  }
  PARETO_TRY(lone_yardstick());
  // Both before either is measured: nothing is loaded in between.
  for (const plan::OperatorRange& side : sides_of(cut, request_.operators)) {
    if (room_.find(side) != nullptr || room_.is_too_large(side)) continue;
    PARETO_ASSIGN(const cluster::ShardLease lease, room_.load_beside(side));
    if (lease) PARETO_TRY(open(side));
  }
  StageMeter* const first = open_side(0);
  if (first == nullptr) return {};
  // Its output is what the second side is sent.
  PARETO_TRY(first->lone(bench_.request, 1));
  crossing_ = first->output();
  return {};
}

Expected<> ProfileSubject::lone_pair(ProfileSubject& first, ProfileSubject& second) {
  const std::array<ProfileSubject*, 2> subjects{&first, &second};
  std::array<std::optional<Value>, 2> requests;
  std::vector<LoneTurn> turns;
  std::vector<ProfileSubject*> of_turns;
  for (std::size_t side = 0; side < subjects.size(); ++side) {
    StageMeter* const meter = subjects[side]->open_side(side);
    if (meter == nullptr) continue;
    PARETO_ASSIGN(requests[side], subjects[side]->request_for(*meter));
    turns.push_back({meter, &*requests[side]});
    of_turns.push_back(subjects[side]);
  }
  PARETO_ASSIGN(const std::vector<LoneTimes> times,
                StageMeter::lone_in_turns(turns, kLoneRequests));
  for (std::size_t i = 0; i < turns.size(); ++i) {
    of_turns[i]->samples_.add_lone(range_of(*turns[i].stage), times[i]);
  }
  return {};
}

Expected<> ProfileSubject::get_ready(int turn, bool turned) {
  turn_ = turn;
  std::vector<plan::OperatorRange> wanted;
  if (turn > 0) {
    const auto sides = sides_of(cut_, request_.operators);
    const std::size_t first = (turn == 1) == turned ? 1 : 0;
    wanted = {sides[first], sides[1 - first]};
  }
  wanted.push_back(yardstick_);
  for (const plan::OperatorRange& range : wanted) {
    const bool was_open = room_.find(range) != nullptr;
    PARETO_ASSIGN(ready_, meter(range));
    if (ready_ == nullptr) continue;
    return was_open || range == yardstick_ ? Expected<>() : lone_side(*ready_);
  }
  return room_.no_room();
}

Expected<> ProfileSubject::busy(Nanoseconds duration) {
  PARETO_ASSIGN(const Value request, request_for(*ready_));
  PARETO_ASSIGN(const BusyTimes times, ready_->busy(request, duration));
  if (turn_ > 0) {
    samples_.add_busy(range_of(*ready_), times.compute);
    return {};
  }
  if (times.compute.count() <= 0) return no_time(device_);
  samples_.add_busy_yardstick(times);
  return {};
}

void ProfileSubject::close_sides() {
  ready_ = nullptr;
  room_.close_all_but(yardstick_);
}

Nanoseconds ProfileSubject::busy_time() const { return kBusyYardsticks * last_yardstick_; }

bool ProfileSubject::is_settled(std::int64_t cut) const {
  return std::ranges::all_of(sides_of(cut, request_.operators), [&](const auto& side) {
    return room_.is_too_large(side) || samples_.is_settled(side);
  });
}

void ProfileSubject::fill(plan::DeviceProfile& profile) const {
  profile.operators = operator_times();
  profile.too_large.assign(room_.too_large().begin(), room_.too_large().end());
  samples_.fill(yardstick_, room_.too_large(), links_, profile);
}

Expected<StageMeter*> ProfileSubject::open(const plan::OperatorRange& range) {
  PARETO_ASSIGN(StageMeter * meter, room_.open(range));
  samples_.opened(meter->shard());
  return meter;
}

Expected<StageMeter*> ProfileSubject::meter(const plan::OperatorRange& range) {
  if (StageMeter* const opened = room_.find(range)) return opened;
  PARETO_ASSIGN(const cluster::ShardLease lease, room_.load(range));
  if (!lease) return nullptr;
  return open(range);
}

Expected<> ProfileSubject::time_operators(const cluster::ResidentShard& shard) {
  auto profiled = device_.profile(shard.loaded.handle, request_.settings.batch, 0, kOperatorRepeats,
                                  bench_.timeout);
  // Made-up requests do not fit every model. Its stages are timed on real ones all the same.
  if (!profiled && profiled.error().code == ErrorCode::kInvalidArgument) return {};
  PARETO_ASSIGN(const cluster::ShardTimes times, std::move(profiled));
  for (const auto& [position, time] : times.operators) {
    if (position < shard.begin || position >= shard.end) {
      return fail(ErrorCode::kCorrupt, "{} timed operator {} of {} to {}", device_.config().name,
                  position, shard.begin, shard.end);
    }
    operators_[position] = time;
  }
  return {};
}

Expected<> ProfileSubject::time_pieces() {
  std::vector<std::int64_t> ends = request_.cuts;
  ends.push_back(request_.operators);
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    PARETO_ASSIGN(const cluster::ShardLease piece, room_.load({begin, end}));
    if (piece) PARETO_TRY(time_operators(*piece));
    begin = end;
  }
  return {};
}

Expected<> ProfileSubject::find_yardstick(const std::optional<plan::DeviceProfile>& known) {
  // One that is known relates what was measured then to what is measured now.
  std::vector<plan::OperatorRange> candidates;
  if (known) {
    for (const plan::ShardTime& shard : known->shards)
      candidates.push_back({shard.begin, shard.end});
  }
  sort_longest_first(candidates);
  std::vector<plan::OperatorRange> sides;
  for (const std::int64_t cut : request_.cuts) {
    for (const plan::OperatorRange& side : sides_of(cut, request_.operators)) sides.push_back(side);
  }
  sort_longest_first(sides);
  candidates.insert(candidates.end(), sides.begin(), sides.end());
  for (const plan::OperatorRange& range : candidates) {
    PARETO_ASSIGN(const cluster::ShardLease lease, room_.load(range));
    if (!lease) continue;
    yardstick_ = range;
    return {};
  }
  return room_.no_room();
}

Expected<StageMeter*> ProfileSubject::yardstick_meter() {
  PARETO_ASSIGN(StageMeter * yardstick, meter(yardstick_));
  if (yardstick == nullptr) PARETO_TRY(room_.no_room());
  return yardstick;
}

Expected<Value> ProfileSubject::request_for(const StageMeter& meter) const {
  if (meter.shard().begin == 0) return bench_.request;
  if (meter.shard().begin == cut_ && crossing_) return *crossing_;
  return meter.made_up_request();
}

Expected<> ProfileSubject::lone_yardstick() {
  PARETO_ASSIGN(StageMeter * yardstick, yardstick_meter());
  PARETO_ASSIGN(const Value request, request_for(*yardstick));
  PARETO_ASSIGN(const LoneTimes times, yardstick->lone(request, kLoneRequests));
  if (times.compute.count() <= 0) return no_time(device_);
  last_yardstick_ = times.compute;
  samples_.add_lone_yardstick(yardstick_, times);
  return {};
}

Expected<> ProfileSubject::lone_side(StageMeter& meter) {
  PARETO_ASSIGN(const Value request, request_for(meter));
  PARETO_ASSIGN(const LoneTimes times, meter.lone(request, kLoneRequests));
  samples_.add_lone(range_of(meter), times);
  if (meter.shard().begin == 0) crossing_ = meter.output();
  return {};
}

StageMeter* ProfileSubject::open_side(std::size_t side) const {
  return room_.find(sides_of(cut_, request_.operators)[side]);
}

std::vector<Nanoseconds> ProfileSubject::operator_times() const {
  Nanoseconds sum{};
  for (const auto& [position, time] : operators_) sum += time;
  // If none was timed, all weigh the same.
  const Nanoseconds mean = operators_.empty() ? Nanoseconds(1) : sum / std::ssize(operators_);
  std::vector<Nanoseconds> times(static_cast<std::size_t>(request_.operators), mean);
  for (const auto& [position, time] : operators_) times[static_cast<std::size_t>(position)] = time;
  return times;
}

}  // namespace pareto::profile
