// The events of a world, one after another. Internal to partitioner/planning/simulation.
#pragma once

#include <cstdint>
#include <span>

#include "partitioner/planning/simulation/event_queue.h"
#include "partitioner/planning/simulation/requests.h"
#include "partitioner/planning/simulation/simulate.h"
#include "partitioner/planning/simulation/world.h"

namespace pareto::simulation {

/// The clock and the queue of one simulation. It has a method for each thing that can happen to a
/// message: this is why there are more than 20.
///
/// Threads: one owner.
class Engine {
 public:
  /// Makes an engine. Both outlive it; `scenario` passes check() and is what `world` was made from.
  Engine(const Scenario& scenario, World& world)
      : scenario_(scenario), world_(world), requests_(scenario, world) {}

  /// Runs to the end, or until on_progress returns false. Fails: kExhausted (a pipeline's requests
  /// in flight), kInvalidArgument (at the end nothing was measured).
  Expected<> run(const OnProgress& on_progress);

  std::int64_t now() const { return now_; }
  std::int64_t measured_from() const { return measured_from_; }
  std::int64_t requests() const { return completed_; }
  std::int64_t events() const { return events_; }
  bool stopped() const { return stopped_; }

 private:
  /// The subject of an event. Events of one moment come in this order, so that an end makes room
  /// before others ask for it.
  enum Kind : std::uint64_t {
    kFinished,    ///< a thread has finished the message in its hands
    kNextMedium,  ///< a message to a thread has its turn on the first of two carriers
    kArrived,     ///< a message has come to a thread over its link
    kCame,        ///< a request has come to the source
  };
  void schedule(std::int64_t time, Kind kind, std::uint32_t thread) {
    queue_.push({time, static_cast<std::uint64_t>(kind) << 32 | thread});
  }

  void start();
  /// Fetches what an event of the thread will touch. It lies anywhere in the arrays: it may come
  /// from memory while the queue is put in order.
  void fetch_ahead(std::uint32_t thread) const;
  void handle(Kind kind, std::uint32_t thread);
  bool is_over() const;

  ThreadRule& rule_of(const Pipeline& pipeline, std::uint32_t thread) {
    return world_
        .rules[world_.classes[pipeline.rule].first_rule + (thread - pipeline.first_thread)];
  }
  /// Returns the rule by which messages come to a thread.
  const CrossingRule& crossing_of(const Pipeline& pipeline, std::uint32_t thread) {
    return world_.crossings[static_cast<std::size_t>(rule_of(pipeline, thread).crossing)];
  }
  std::span<const std::int64_t> row_of(const Pipeline& pipeline, std::uint32_t request) const;

  /// Lets the thread take messages and hand them on, as long as neither has to wait.
  void advance(std::uint32_t thread);
  bool may_begin(const Thread& thread, const Pipeline& pipeline) const;
  /// Begins a message. False: it works on the message until an event.
  bool begin(std::uint32_t index, Thread& thread, Pipeline& pipeline, ThreadRule& rule);
  /// Hands over what it finished. False: there is no place for it.
  bool hand_over(std::uint32_t index, Thread& thread, Pipeline& pipeline, ThreadRule& rule);
  /// Sends to a thread that messages come to over a link.
  void send(std::uint32_t receiver);
  /// Sends over the second of two carriers.
  void send_on(std::uint32_t receiver);
  /// Returns when a message has its turn over one of World::passes.
  std::int64_t pass(std::uint32_t index, std::uint32_t receiver, Underway& message);
  /// Delivers a message. `turn` is that on its last carrier.
  void deliver(std::uint32_t receiver, const Underway& message, std::int64_t turn);
  /// Occupies a core of the device for so long: when it will be done.
  std::int64_t occupy(Device& device, std::int64_t time);
  /// Uses the same of a device with a quota, from `begin` on.
  static std::int64_t use_quota(Quota& quota, std::int64_t begin, std::int64_t time);

  /// Notes that a message is there for a thread.
  void arrive(std::uint32_t thread);
  void complete(Pipeline& pipeline, std::uint32_t number);

  /// Takes the request that came to a source, and schedules the one after it.
  void come(std::uint32_t source);

  void begin_measuring();
  /// Requests that were completed since.
  std::int64_t measured_requests() const;
  /// Corrects for work that was counted when it began, but lies in the future: it is subtracted
  /// (sign -1), or added (sign 1).
  void count_future_work(int sign);

  const Scenario& scenario_;
  World& world_;
  Requests requests_;
  EventQueue queue_;
  std::int64_t now_ = 0;
  std::int64_t measured_from_ = 0;
  bool measuring_ = false;
  bool stopped_ = false;
  bool exhausted_ = false;
  std::int64_t completed_ = 0;
  std::int64_t events_ = 0;
  // Measuring begins with the first of both.
  std::int64_t warm_until_ = INT64_MAX;
  std::int64_t warm_requests_ = INT64_MAX;
};

}  // namespace pareto::simulation
