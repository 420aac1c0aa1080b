#include "coordinator/profile/profile_subject.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "coordinator/statistics/statistics.h"
#include "core/base/text.h"

namespace pareto::profile {
namespace {

constexpr int kOperatorRepeats = 5;
constexpr int kLoneRequests = 5;
/// The time that a busy stage is watched, as a multiple of the yardstick's.
constexpr int kBusyYardsticks = 6;
/// The number of cuts before which a device that does all alone is watched under load again: it has
/// its machine to itself.
constexpr int kCutsAWhole = 6;

Nanoseconds rounded(double nanoseconds) { return from_nanoseconds(std::max(nanoseconds, 0.0)); }

/// The number of yardsticks on each side that count. A machine's speed changes from one moment to
/// the next; the yardstick measured a moment earlier shows it no better than others around it.
constexpr std::ptrdiff_t kYardsticksAround = 2;
/// Standard error of a logarithm.
constexpr double kSettled = 0.025;

template <typename Visit>
std::vector<double> shares_of(const std::vector<Visit>& visits,
                              const std::vector<double>& yardsticks) {
  std::vector<double> shares;
  for (const Visit& visit : visits) {
    const auto at = static_cast<std::ptrdiff_t>(visit.yardstick);
    const auto first = yardsticks.begin() + std::max<std::ptrdiff_t>(at - kYardsticksAround, 0);
    const auto last =
        yardsticks.begin() + std::min(at + kYardsticksAround + 1, std::ssize(yardsticks));
    shares.push_back(visit.taken / statistics::median({first, last}));
  }
  return shares;
}

/// Returns the error of the mean of their logarithms; from one share only nothing is known.
double error_of(const std::vector<double>& shares) {
  if (shares.size() < 2) return 0;
  std::vector<double> logarithms;
  for (const double share : shares) logarithms.push_back(std::log(std::max(share, 1e-9)));
  const double middle = statistics::mean(logarithms);
  double squares = 0;
  for (const double one : logarithms) squares += (one - middle) * (one - middle);
  const auto count = static_cast<double>(logarithms.size());
  return std::sqrt(squares / (count - 1) / count);
}

void sort_longest_first(std::vector<plan::OperatorRange>& ranges) {
  std::ranges::stable_sort(ranges, std::ranges::greater{}, [](const plan::OperatorRange& range) {
    return range.end - range.begin;
  });
}

}  // namespace

Expected<> ProfileSubject::begin(const std::optional<plan::DeviceProfile>& known) {
  if (known) too_large_.insert(known->too_large.begin(), known->too_large.end());
  yardstick_ = {0, wish_.operators};
  PARETO_ASSIGN(const cluster::ShardLease whole, load(yardstick_));
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
  if (yardstick_is_whole() && cuts_++ % kCutsAWhole == 0) {
    PARETO_ASSIGN(StageMeter * whole, yardstick_meter());
    PARETO_ASSIGN(const BusyTimes times, whole->busy(bench_.request, busy_time()));
    unshared_yardsticks_.push_back(to_nanoseconds(times.interval));
  }
  PARETO_TRY(lone_yardstick());
  // Both before either is measured: nothing is loaded in between.
  for (const plan::OperatorRange& side : sides_of(cut)) {
    if (open_.contains(side) || too_large_.contains(side)) continue;
    PARETO_ASSIGN(const cluster::ShardLease lease, load_beside(side));
    if (lease) PARETO_TRY(open(side));
  }
  StageMeter* const first = open_side(0);
  if (first == nullptr) return {};
  // For what the second is sent.
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
  for (std::size_t i = 0; i < turns.size(); ++i) of_turns[i]->saw(*turns[i].stage, times[i]);
  return {};
}

Expected<> ProfileSubject::get_ready(int turn, bool turned) {
  turn_ = turn;
  std::vector<plan::OperatorRange> wanted;
  if (turn > 0) {
    const auto sides = sides_of(cut_);
    const std::size_t first = (turn == 1) == turned ? 1 : 0;
    wanted = {sides[first], sides[1 - first]};
  }
  wanted.push_back(yardstick_);
  for (const plan::OperatorRange& range : wanted) {
    const bool was_open = open_.contains(range);
    PARETO_ASSIGN(ready_, meter(range));
    if (ready_ == nullptr) continue;
    return was_open || range == yardstick_ ? Expected<>() : lone_side(*ready_);
  }
  return no_room();
}

Expected<> ProfileSubject::busy(Nanoseconds duration) {
  PARETO_ASSIGN(const Value request, request_for(*ready_));
  PARETO_ASSIGN(const BusyTimes times, ready_->busy(request, duration));
  if (turn_ > 0) {
    seen_of(*ready_).busy.push_back({to_nanoseconds(times.compute), busy_computes_.size() - 1});
    return {};
  }
  if (times.compute.count() <= 0) return no_time();
  busy_computes_.push_back(to_nanoseconds(times.compute));
  busy_yardsticks_.push_back(to_nanoseconds(times.interval));
  for (const double compute : times.computes) {
    if (jitter_.size() == plan::kMostJitterFactors) break;
    jitter_.push_back(std::max(compute, 1.0) / to_nanoseconds(times.compute));
  }
  return {};
}

void ProfileSubject::close_sides() {
  ready_ = nullptr;
  std::erase_if(open_, [this](const auto& opened) { return opened.first != yardstick_; });
}

Nanoseconds ProfileSubject::busy_time() const { return kBusyYardsticks * last_yardstick_; }

std::vector<double> ProfileSubject::lone_shares(const Seen& seen) const {
  return shares_of(seen.alone, lone_yardsticks_);
}

std::vector<double> ProfileSubject::busy_shares(const Seen& seen) const {
  return shares_of(seen.busy, busy_computes_);
}

bool ProfileSubject::is_settled(std::int64_t cut) const {
  return std::ranges::all_of(sides_of(cut), [&](const plan::OperatorRange& side) {
    const auto seen = seen_.find(side);
    if (seen == seen_.end() || too_large_.contains(side)) return true;
    return error_of(lone_shares(seen->second)) <= kSettled &&
           error_of(busy_shares(seen->second)) <= kSettled;
  });
}

void ProfileSubject::fill(plan::DeviceProfile& profile) const {
  profile.operators = operator_times();
  profile.too_large.assign(too_large_.begin(), too_large_.end());
  const double alone = statistics::median(lone_yardsticks_);
  // Without a cut there was nothing to be busy with.
  const double busy = busy_yardsticks_.empty() ? alone : statistics::median(busy_yardsticks_);
  const double unshared =
      unshared_yardsticks_.empty() ? busy : statistics::median(unshared_yardsticks_);
  std::vector<double> overheads;
  for (const auto& [range, seen] : seen_) {
    for (const double beyond : seen.beyond) {
      overheads.push_back(beyond - to_nanoseconds(links_.crossing(seen.traffic)));
    }
    const bool is_yardstick = range == yardstick_;
    const bool was_measured = is_yardstick || !(seen.alone.empty() || seen.busy.empty());
    if (!was_measured || too_large_.contains(range)) continue;
    plan::ShardTime& shard = profile.shards.emplace_back();
    shard.begin = range.begin;
    shard.end = range.end;
    shard.alone = rounded(is_yardstick ? alone : statistics::median(lone_shares(seen)) * alone);
    shard.busy = rounded((is_yardstick ? unshared : statistics::median(busy_shares(seen)) * busy) -
                         to_nanoseconds(links_.processor(seen.traffic)));
    shard.memory_bytes = seen.memory_bytes;
    shard.output_bytes = seen.traffic.output_bytes;
  }
  profile.overhead = rounded(statistics::median(overheads));
  profile.jitter = jitter_;
}

Expected<cluster::ShardLease> ProfileSubject::load_beside(const plan::OperatorRange& range) {
  auto lease = bench_.pool.acquire(device_, range.begin, range.end, wish_.settings);
  if (!lease && lease.error().code == ErrorCode::kExhausted) return cluster::ShardLease();
  return with_context(std::move(lease), "operators {} to {} on {}", range.begin, range.end,
                      device_.config().name);
}

Expected<cluster::ShardLease> ProfileSubject::load(const plan::OperatorRange& range) {
  if (too_large_.contains(range)) return cluster::ShardLease();
  PARETO_ASSIGN(cluster::ShardLease lease, load_beside(range));
  if (!lease && !open_.empty()) {
    open_.clear();
    PARETO_ASSIGN(lease, load_beside(range));
  }
  if (!lease) too_large_.insert(range);
  return lease;
}

Expected<StageMeter*> ProfileSubject::open(const plan::OperatorRange& range) {
  PARETO_ASSIGN(auto meter, StageMeter::open(device_.config().name, range.begin, range.end,
                                             wish_.settings, links_.transport(), bench_.cluster,
                                             bench_.pool, bench_.transports, bench_.timeout));
  Seen& seen = seen_of(*meter);
  seen.traffic = {meter->shard().input_bytes, meter->shard().output_bytes};
  // Loaded again, it takes memory that the daemon has kept.
  seen.memory_bytes = std::max(seen.memory_bytes, meter->shard().loaded.memory_bytes);
  return (open_[range] = std::move(meter)).get();
}

Expected<StageMeter*> ProfileSubject::meter(const plan::OperatorRange& range) {
  if (const auto opened = open_.find(range); opened != open_.end()) return opened->second.get();
  PARETO_ASSIGN(const cluster::ShardLease lease, load(range));
  if (!lease) return nullptr;
  return open(range);
}

Expected<> ProfileSubject::time_operators(const cluster::ResidentShard& shard) {
  auto profiled = device_.profile(shard.loaded.handle, wish_.settings.batch, 0, kOperatorRepeats,
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
  std::vector<std::int64_t> ends = wish_.cuts;
  ends.push_back(wish_.operators);
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    PARETO_ASSIGN(const cluster::ShardLease piece, load({begin, end}));
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
  for (const std::int64_t cut : wish_.cuts) {
    for (const plan::OperatorRange& side : sides_of(cut)) sides.push_back(side);
  }
  sort_longest_first(sides);
  candidates.insert(candidates.end(), sides.begin(), sides.end());
  for (const plan::OperatorRange& range : candidates) {
    PARETO_ASSIGN(const cluster::ShardLease lease, load(range));
    if (!lease) continue;
    yardstick_ = range;
    return {};
  }
  return no_room();
}

Expected<StageMeter*> ProfileSubject::yardstick_meter() {
  PARETO_ASSIGN(StageMeter * yardstick, meter(yardstick_));
  if (yardstick == nullptr) PARETO_TRY(no_room());
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
  if (times.compute.count() <= 0) return no_time();
  last_yardstick_ = times.compute;
  lone_yardsticks_.push_back(to_nanoseconds(times.compute));
  seen_of(*yardstick).beyond.push_back(to_nanoseconds(times.beyond));
  return {};
}

Expected<> ProfileSubject::lone_side(StageMeter& meter) {
  PARETO_ASSIGN(const Value request, request_for(meter));
  PARETO_ASSIGN(const LoneTimes times, meter.lone(request, kLoneRequests));
  saw(meter, times);
  if (meter.shard().begin == 0) crossing_ = meter.output();
  return {};
}

StageMeter* ProfileSubject::open_side(std::size_t side) const {
  const auto opened = open_.find(sides_of(cut_)[side]);
  return opened == open_.end() ? nullptr : opened->second.get();
}

void ProfileSubject::saw(const StageMeter& meter, const LoneTimes& times) {
  Seen& seen = seen_of(meter);
  seen.alone.push_back({to_nanoseconds(times.compute), lone_yardsticks_.size() - 1});
  seen.beyond.push_back(to_nanoseconds(times.beyond));
}

std::vector<Nanoseconds> ProfileSubject::operator_times() const {
  Nanoseconds sum{};
  for (const auto& [position, time] : operators_) sum += time;
  // If none was timed, all weigh the same.
  const Nanoseconds mean = operators_.empty() ? Nanoseconds(1) : sum / std::ssize(operators_);
  std::vector<Nanoseconds> times(static_cast<std::size_t>(wish_.operators), mean);
  for (const auto& [position, time] : operators_) times[static_cast<std::size_t>(position)] = time;
  return times;
}

Expected<> ProfileSubject::no_time() const {
  return fail(ErrorCode::kCorrupt, "{} ran a shard in no time", device_.config().name);
}

Expected<> ProfileSubject::no_room() const {
  plan::OperatorRange smallest;
  std::uint64_t needed = std::numeric_limits<std::uint64_t>::max();
  for (const plan::OperatorRange& range : too_large_) {
    PARETO_ASSIGN(const std::uint64_t bytes,
                  bench_.pool.loading_bytes(plan::ShardOperators::between(range.begin, range.end),
                                            wish_.settings.batch));
    if (bytes >= needed) continue;
    smallest = range;
    needed = bytes;
  }
  const cluster::DeviceInfo& info = device_.info();
  const bool limited = info.memory_limit_bytes > 0;
  return fail(
      ErrorCode::kExhausted,
      "{} has no room for any part of {} that was to be measured: the smallest, operators {} to "
      "{}, needs about {}, and {}; {}, cut the model into smaller parts (--splits, "
      "--measured-cuts) or "
      "leave the device out",
      device_.config().name, wish_.model, smallest.begin, smallest.end, format_bytes(needed),
      limited ? "its memory limit is " + format_bytes(info.memory_limit_bytes)
              : "of its " + format_bytes(info.memory_bytes) + " of memory less is free",
      limited ? "raise --memory-limit of its paretod" : "end what else runs there");
}

}  // namespace pareto::profile
