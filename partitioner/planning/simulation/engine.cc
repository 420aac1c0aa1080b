#include "partitioner/planning/simulation/engine.h"

#include <algorithm>

namespace pareto::simulation {
namespace {

/// The time for which a thread is awake and its caches warm, as a share of the time that it was at
/// work.
constexpr double kAwake = 0.25;
constexpr std::int64_t kEventsPerReport = 1 << 20;

std::int64_t share_of(double share, std::int64_t time) {
  return share == 1 ? time : std::llround(share * static_cast<double>(time));
}

}  // namespace

Expected<> Engine::run(const OnProgress& on_progress) {
  start();
  const auto share = [&] {
    const double by_time = scenario_.duration.count() == 0
                               ? 0
                               : static_cast<double>(now_) / to_nanoseconds(scenario_.duration);
    const double by_requests =
        scenario_.requests == 0
            ? 0
            : static_cast<double>(completed_) / static_cast<double>(scenario_.requests);
    return std::min(1.0, std::max(by_time, by_requests));
  };
  const std::int64_t end =
      scenario_.duration.count() > 0 ? scenario_.duration.count() : kLongest.count();
  while (!queue_.empty() && !exhausted_) {
    const Event event = queue_.top();
    if (!measuring_ && event.time >= warm_until_) {
      now_ = warm_until_;
      begin_measuring();
    }
    if (event.time > end) {
      now_ = end;
      break;
    }
    fetch_ahead(static_cast<std::uint32_t>(event.code));
    queue_.pop();
    now_ = event.time;
    handle(static_cast<Kind>(event.code >> 32), static_cast<std::uint32_t>(event.code));
    if (is_over()) break;
    if (++events_ % kEventsPerReport == 0 && on_progress && !on_progress(share())) {
      stopped_ = true;
      break;
    }
  }
  if (exhausted_) {
    return fail(
        ErrorCode::kExhausted,
        "more requests wait at a source than can be kept: give the pipeline fewer arrivals");
  }
  if (!measuring_) begin_measuring();
  count_future_work(-1);
  if (stopped_ || measured_requests() > 0) return {};
  return fail(ErrorCode::kInvalidArgument,
              "nothing was measured: of {:.4g} s that were simulated the first {:.4g} s are "
              "warm-up, and no request was completed after them; give it a shorter warm_up, more "
              "requests or a longer duration",
              to_seconds(Nanoseconds(now_)), to_seconds(Nanoseconds(measured_from_)));
}

void Engine::fetch_ahead(std::uint32_t index) const {
  const Thread& thread = world_.threads[index];
  __builtin_prefetch(&world_.pipelines[thread.pipeline]);
  if (thread.device == kNone) return;
  // A thread on a device is never the last one: a link or queue leads to the next.
  __builtin_prefetch(&world_.devices[thread.device]);
  const std::uint32_t link = world_.threads[index + 1].link;
  if (link != kNone) __builtin_prefetch(&world_.links[link]);
}

void Engine::start() {
  if (scenario_.warm_up) {
    warm_until_ = scenario_.warm_up->count();
  } else {
    if (scenario_.duration.count() > 0) warm_until_ = scenario_.duration.count() / 10;
    if (scenario_.requests > 0) warm_requests_ = scenario_.requests / 10;
  }
  measuring_ = warm_until_ == 0 || warm_requests_ == 0;
  for (Pipeline& pipeline : world_.pipelines) {
    schedule(requests_.first(pipeline), kCame, pipeline.first_thread);
  }
}

bool Engine::is_over() const { return scenario_.requests > 0 && completed_ >= scenario_.requests; }

void Engine::handle(Kind kind, std::uint32_t thread) {
  switch (kind) {
    case kFinished:
      ++world_.threads[thread].finished;
      return advance(thread);
    case kNextMedium:
      return send_on(thread);
    case kArrived:
      return arrive(thread);
    case kCame:
      return come(thread);
  }
}

std::span<const std::int64_t> Engine::row_of(const Pipeline& pipeline,
                                             std::uint32_t request) const {
  const Recording* recording = scenario_.pipelines[pipeline.rule].recording.get();
  if (recording == nullptr) return {};
  const std::uint32_t row = pipeline.requests[request & pipeline.mask].row;
  return {recording->nanoseconds.data() + row * recording->columns, recording->columns};
}

void Engine::come(std::uint32_t source) {
  Thread& thread = world_.threads[source];
  Pipeline& pipeline = world_.pipelines[thread.pipeline];
  // The window's requests are all there at once.
  if (requests_.is_closed(pipeline)) return advance(source);
  if (!requests_.note(pipeline, thread.arrived, now_)) exhausted_ = true;
  ++thread.handed;
  schedule(now_ + requests_.wait_for_next(source, pipeline), kCame, source);
  arrive(source);
}

void Engine::advance(std::uint32_t index) {
  Thread& thread = world_.threads[index];
  Pipeline& pipeline = world_.pipelines[thread.pipeline];
  ThreadRule& rule = rule_of(pipeline, index);
  for (;;) {
    if (thread.begun != thread.finished) return;
    const std::uint32_t handed_on =
        rule.last ? pipeline.completed : world_.threads[index + 1].handed;
    if (thread.finished != handed_on) {
      if (!hand_over(index, thread, pipeline, rule)) return;
    } else if (!may_begin(thread, pipeline) || !begin(index, thread, pipeline, rule)) {
      return;
    }
  }
}

bool Engine::may_begin(const Thread& thread, const Pipeline& pipeline) const {
  const bool is_source = &thread == &world_.threads[pipeline.first_thread];
  if (!is_source) return thread.arrived != thread.begun;
  const std::uint32_t window = world_.classes[pipeline.rule].window;
  if (window > 0 && thread.begun - pipeline.completed >= window) return false;
  return scenario_.pipelines[pipeline.rule].arrivals.kind == ArrivalKind::kClosed ||
         thread.arrived != thread.begun;
}

bool Engine::begin(std::uint32_t index, Thread& thread, Pipeline& pipeline, ThreadRule& rule) {
  const std::uint32_t number = thread.begun++;
  const std::uint32_t place = index - pipeline.first_thread;
  if (place == 0 && scenario_.pipelines[pipeline.rule].arrivals.kind == ArrivalKind::kClosed) {
    if (!requests_.note(pipeline, number, now_)) exhausted_ = true;
  } else {
    rule.waiting.change(now_, -1);
  }
  const DurationDraw& takes = now_ <= thread.awake_until ? rule.busy_time : rule.time;
  const std::int64_t time = takes.draw(
      random_bits(pipeline.key, number, place * DrawPurpose::kPerThread), row_of(pipeline, number));
  if (time == 0) {
    thread.finished = thread.begun;
  } else {
    const std::int64_t done =
        thread.device == kNone ? now_ + time : occupy(world_.devices[thread.device], time);
    rule.busy += done - now_;
    thread.awake_until = done + static_cast<std::int64_t>(kAwake * static_cast<double>(time));
    schedule(done, kFinished, index);
  }
  // Its place is free: who waited for it goes on.
  if (place > 0 && world_.threads[index - 1].blocked != 0) advance(index - 1);
  return time == 0;
}

bool Engine::hand_over(std::uint32_t index, Thread& thread, Pipeline& pipeline, ThreadRule& rule) {
  const std::uint32_t number = thread.finished - 1;
  if (rule.last) {
    complete(pipeline, number);
    return true;
  }
  Thread& next = world_.threads[index + 1];
  ThreadRule& next_rule = rule_of(pipeline, index + 1);
  if (next.handed - next.begun >= next_rule.places) {
    if (thread.blocked == 0) rule.blocked.change(now_, 1);
    thread.blocked = 1;
    return false;
  }
  if (thread.blocked != 0) rule.blocked.change(now_, -1);
  thread.blocked = 0;
  ++next.handed;
  if (next_rule.crossing >= 0) {
    send(index + 1);
  } else {
    arrive(index + 1);
  }
  return true;
}

void Engine::arrive(std::uint32_t index) {
  Thread& thread = world_.threads[index];
  ThreadRule& rule = rule_of(world_.pipelines[thread.pipeline], index);
  rule.waiting.change(now_, 1);
  ++thread.arrived;
  advance(index);
  // One that was taken at once has not waited.
  rule.most_waiting = std::max<std::int64_t>(rule.most_waiting, thread.arrived - thread.begun);
}

void Engine::send(std::uint32_t index) {
  const Thread& receiver = world_.threads[index];
  LinkEnd& link = world_.links[receiver.link];
  Underway message;
  message.sent = now_;
  message.number = receiver.handed - 1;
  const std::int64_t turn = pass(link.first_pass, index, message);
  if (!link.has_second) return deliver(index, message, turn);
  world_.keep(link, message);
  schedule(turn, kNextMedium, index);
}

void Engine::send_on(std::uint32_t index) {
  LinkEnd& link = world_.links[world_.threads[index].link];
  Underway message = world_.take(link);
  const std::int64_t turn = pass(link.first_pass + 1, index, message);
  deliver(index, message, turn);
}

std::int64_t Engine::pass(std::uint32_t index, std::uint32_t receiver, Underway& message) {
  const Thread& thread = world_.threads[receiver];
  const Pipeline& pipeline = world_.pipelines[thread.pipeline];
  const CrossingRule& crossing = crossing_of(pipeline, receiver);
  const std::uint64_t purpose = (receiver - pipeline.first_thread) * DrawPurpose::kPerThread;
  const Pass& over = world_.passes[index];
  Carrier& carrier = world_.carriers[over.carrier];
  const std::int64_t occupancy = crossing.occupancy.draw(
      random_bits(pipeline.key, message.number, purpose + DrawPurpose::kOccupancy),
      row_of(pipeline, message.number));
  const std::int64_t turn = std::max(now_, carrier.free_at);
  // On the second carrier packets fare by draws of its own.
  const bool is_second = index > world_.links[thread.link].first_pass;
  const std::uint64_t key =
      is_second ? random_bits(pipeline.key, 0, DrawPurpose::kSecondCarrier) : pipeline.key;
  const Fate fate = world_.wires[carrier.wire].carry(
      turn, share_of(over.share, occupancy), crossing.bytes, carrier.shift, key, message.number,
      purpose + DrawPurpose::kPackets);
  carrier.busy += fate.done - turn;
  carrier.free_at = fate.done;
  message.done = std::max(message.done, fate.done);
  message.delay += fate.arrives - fate.done;
  return turn;
}

void Engine::deliver(std::uint32_t index, const Underway& message, std::int64_t turn) {
  const Thread& receiver = world_.threads[index];
  const Pipeline& pipeline = world_.pipelines[receiver.pipeline];
  const CrossingRule& crossing = crossing_of(pipeline, index);
  LinkEnd& link = world_.links[receiver.link];
  const std::uint64_t purpose = (index - pipeline.first_thread) * DrawPurpose::kPerThread;
  const std::int64_t delay =
      message.delay +
      crossing.delay.draw(random_bits(pipeline.key, message.number, purpose + DrawPurpose::kDelay),
                          row_of(pipeline, message.number));
  link.last_arrival = std::max({link.last_arrival, turn, message.done + delay - crossing.early});
  rule_of(pipeline, index).on_way += static_cast<double>(link.last_arrival - message.sent);
  schedule(link.last_arrival, kArrived, index);
}

std::int64_t Engine::occupy(Device& device, std::int64_t time) {
  std::int64_t* const cores = &world_.cores[device.first_core];
  std::int64_t* const core = std::min_element(cores, cores + device.cores);
  const std::int64_t begin = std::max(*core, now_);
  *core =
      device.quota == kNone ? begin + time : use_quota(world_.quotas[device.quota], begin, time);
  device.busy += *core - begin;
  return *core;
}

std::int64_t Engine::use_quota(Quota& quota, std::int64_t begin, std::int64_t time) {
  std::int64_t at = begin + quota.shift;
  for (;;) {
    const std::int64_t period = at / quota.period;
    if (period != quota.current) quota.used = 0;
    quota.current = period;
    const std::int64_t end = (period + 1) * quota.period;
    const std::int64_t runs = std::min({time, quota.most - quota.used, end - at});
    quota.used += runs;
    time -= runs;
    if (time == 0) return at + runs - quota.shift;
    at = end;
  }
}

void Engine::complete(Pipeline& pipeline, std::uint32_t number) {
  PipelineRule& rule = world_.classes[pipeline.rule];
  rule.in_flight.change(now_, -1);
  if (measuring_) rule.latency.add(now_ - pipeline.requests[number & pipeline.mask].since);
  ++pipeline.completed;
  ++completed_;
  if (!measuring_ && completed_ >= warm_requests_) begin_measuring();
  advance(pipeline.first_thread);
}

void Engine::begin_measuring() {
  measuring_ = true;
  measured_from_ = now_;
  for (ThreadRule& rule : world_.rules) {
    rule.busy = 0;
    rule.on_way = 0;
    rule.waiting.restart(now_);
    rule.blocked.restart(now_);
    rule.most_waiting = 0;
  }
  for (PipelineRule& rule : world_.classes) {
    rule.latency.clear();
    rule.in_flight.restart(now_);
  }
  for (Carrier& carrier : world_.carriers) carrier.busy = 0;
  for (Device& device : world_.devices) device.busy = 0;
  count_future_work(1);
}

std::int64_t Engine::measured_requests() const {
  std::int64_t sum = 0;
  for (const PipelineRule& rule : world_.classes) sum += rule.latency.count();
  return sum;
}

void Engine::count_future_work(int sign) {
  // Cores and carriers are at work without a break until they are free.
  for (Device& device : world_.devices) {
    for (std::uint32_t i = 0; i < device.cores; ++i) {
      const std::int64_t left = world_.cores[device.first_core + i] - now_;
      device.busy += sign * std::max<std::int64_t>(0, left);
    }
  }
  for (Carrier& carrier : world_.carriers) {
    carrier.busy += sign * std::max<std::int64_t>(0, carrier.free_at - now_);
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Event event = queue_.at(i);
    if (static_cast<Kind>(event.code >> 32) != kFinished) continue;
    const auto thread = static_cast<std::uint32_t>(event.code);
    const Pipeline& pipeline = world_.pipelines[world_.threads[thread].pipeline];
    rule_of(pipeline, thread).busy += sign * (event.time - now_);
  }
}

}  // namespace pareto::simulation
