#include "daemon/stage/stage_meter.h"

#include <algorithm>
#include <functional>

namespace pareto::daemon {
namespace {

/// Adds the counts that only grow.
void add(MeterReading& sums, const StageMeter& meter) {
  sums.answered += meter.answered;
  sums.failed += meter.failed;
  sums.dropped += meter.dropped;
  sums.broken_stages += meter.broken ? 1 : 0;
  sums.silent_links += meter.silent_links;
  sums.bytes_received += meter.bytes_received;
  sums.bytes_sent += meter.bytes_sent;
  sums.wait += meter.wait.read();
  sums.turn_wait += meter.turn_wait.read();
  sums.compute += meter.compute.read();
  const std::vector<Nanoseconds> workers = meter.workers.read();
  if (sums.workers.size() < workers.size()) sums.workers.resize(workers.size());
  std::ranges::transform(workers, sums.workers, sums.workers.begin(), std::plus());
}

/// Sets the values that hold now.
void show(MeterReading& reading, const StageMeter& meter) {
  reading.in_flight += meter.in_flight;
  if (reading.place == StageMeters::kShared) return;  // several links and shards meet there
  if (const auto took = meter.round_trip.load(); took > 0) reading.round_trip = Nanoseconds(took);
  if (const auto rate = meter.link_bytes_per_second.load(); rate > 0) {
    reading.link_bytes_per_second = rate;
  }
  if (const auto profiled = meter.profiled_compute.load(); profiled > 0) {
    reading.profiled_compute = Nanoseconds(profiled);
  }
}

}  // namespace

void WorkerMeter::add(const std::vector<Nanoseconds>& times) {
  const std::size_t count = std::min(times.size(), sums_.size());
  for (std::size_t i = 0; i < count; ++i) {
    sums_[i].fetch_add(times[i].count(), std::memory_order_relaxed);
  }
  std::size_t seen = seen_.load(std::memory_order_relaxed);
  while (seen < count && !seen_.compare_exchange_weak(seen, count, std::memory_order_relaxed)) {
  }
}

std::vector<Nanoseconds> WorkerMeter::read() const {
  std::vector<Nanoseconds> sums(seen_.load(std::memory_order_relaxed));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = Nanoseconds(sums_[i].load(std::memory_order_relaxed));
  }
  return sums;
}

StagePlace StageMeters::free_place(const State& state, std::uint32_t stage) {
  for (StagePlace place{stage, 0};; ++place.slot) {
    const auto entry = state.entries.find(place);
    if (entry == state.entries.end()) {
      return state.entries.size() < kMostPlaces ? place : kShared;
    }
    if (entry->second.present.empty()) return place;
  }
}

std::shared_ptr<StageMeter> StageMeters::open(std::uint32_t stage) {
  auto meter = std::make_unique<StageMeter>();
  StagePlace place;
  {
    const std::lock_guard lock(state_->mutex);
    place = free_place(*state_, stage);
    Entry& entry = state_->entries[place];
    entry.past.place = place;
    meter->place = place;
    entry.present.push_back(meter.get());
  }
  return {meter.release(), [state = state_, place](const StageMeter* gone) {
            leave(*state, place, gone);
            delete gone;
          }};
}

void StageMeters::leave(State& state, const StagePlace& place, const StageMeter* meter) {
  const std::lock_guard lock(state.mutex);
  Entry& entry = state.entries.at(place);
  std::erase(entry.present, meter);
  add(entry.past, *meter);
}

std::vector<MeterReading> StageMeters::read() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<MeterReading> readings;
  for (const auto& [place, entry] : state_->entries) {
    MeterReading& now = readings.emplace_back(entry.past);
    for (const StageMeter* meter : entry.present) {
      add(now, *meter);
      if (!meter->ended) show(now, *meter);
    }
  }
  return readings;
}

}  // namespace pareto::daemon
