// A scenario laid out for speed: every class once, and everything of a class as few bytes in one
// array. Internal to partitioner/planning/simulation.
//
// Requests of a pipeline never overtake each other, so a thread needs no list of them. Four
// counters are enough: the n-th message that it begins is the pipeline's request n.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/planning/simulation/draws.h"
#include "partitioner/planning/simulation/latency_histogram.h"
#include "partitioner/planning/simulation/scenario.h"
#include "partitioner/planning/simulation/wire.h"

namespace pareto::simulation {

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// A number of things, over time. Threads: one owner.
class Level {
 public:
  void change(std::int64_t now, std::int64_t by) {
    integral_ += static_cast<double>(count_) * static_cast<double>(now - since_);
    since_ = now;
    count_ += by;
  }
  void restart(std::int64_t now) {
    change(now, 0);
    integral_ = 0;
  }
  double mean(std::int64_t now, std::int64_t measured) {
    change(now, 0);
    return measured > 0 ? integral_ / static_cast<double>(measured) : 0;
  }

 private:
  std::int64_t count_ = 0;
  std::int64_t since_ = 0;
  double integral_ = 0;
};

/// The rule by which messages of a class get to one of its threads from the one before.
struct CrossingRule {
  int wire = -1;  ///< index in World::wires; -1: a medium's
  std::uint64_t bytes = 0;
  DurationDraw occupancy;
  DurationDraw delay;
  std::int64_t early = 0;
};

/// One thread of a pipeline class: the source, a stage's three, or the sink. What was counted is of
/// all pipelines of the class.
struct ThreadRule {
  DurationDraw time;
  DurationDraw busy_time;    ///< time of a message that follows soon
  int crossing = -1;         ///< index in World::crossings, by which messages come; -1: by a queue
  std::uint32_t places = 1;  ///< messages handed over to it and not begun
  bool last = false;         ///< the sink
  std::int64_t busy = 0;     ///< ns with a message in hand
  double on_way = 0;         ///< ns of messages from when they were sent to it until they arrived
  Level waiting;             ///< arrived and not begun
  Level blocked;             ///< threads that could not hand over
  std::int64_t most_waiting = 0;
};

/// One thread of one pipeline.
struct Thread {
  std::uint32_t handed = 0;   ///< messages given to it, so far (of the source: that came)
  std::uint32_t arrived = 0;  ///< … that it can take
  std::uint32_t begun = 0;
  std::uint32_t finished = 0;
  std::uint32_t pipeline = 0;
  std::uint32_t device = kNone;
  std::uint32_t link = kNone;  ///< index in World::links, by which its messages come
  std::uint32_t blocked = 0;   ///< 1: it has a message that it could not hand over
  std::int64_t awake_until = -1;
};

/// A pipeline's end of a link.
struct LinkEnd {
  std::int64_t last_arrival = 0;
  std::uint32_t first_pass = 0;  ///< index in World::passes
  bool has_second = false;       ///< whether a message passes another carrier after the first
  // Messages that have not had their turn on the first of two, as a list of World::underway.
  std::uint32_t oldest = kNone;
  std::uint32_t newest = kNone;
};

/// The passage of a link's messages over one carrier.
struct Pass {
  std::uint32_t carrier = 0;
  double share = 1;  ///< share of their occupancy
};

/// A message on its link.
struct Underway {
  std::int64_t sent = 0;
  // Figures of the carriers that it has passed:
  std::int64_t done = 0;   ///< when the last of them is free again
  std::int64_t delay = 0;  ///< delay of all of them together
  std::uint32_t number = 0;
  std::uint32_t next = kNone;  ///< the one sent after it, or the next unused place
};

/// A carrier of messages, one after the other: a link of its own, or a medium.
struct Carrier {
  std::int64_t free_at = 0;
  std::int64_t busy = 0;
  std::int64_t shift = 0;  ///< shift of its trace
  std::uint32_t wire = 0;
};

/// Processor time that a device may use in every period.
struct Quota {
  std::int64_t most = 0;
  std::int64_t period = 0;
  std::int64_t shift = 0;    ///< shift of its periods
  std::int64_t current = 0;  ///< the period in which something was used last …
  std::int64_t used = 0;     ///< … and how much
};

struct Device {
  std::uint32_t first_core = 0;
  std::uint32_t cores = 1;
  std::int64_t busy = 0;
  std::uint32_t quota = kNone;  ///< index in World::quotas
};

struct Request {
  std::int64_t since = 0;
  std::uint32_t row = 0;  ///< row of the recording
};

struct PipelineRule {
  std::size_t first_rule = 0;  ///< first rule of its threads
  std::size_t threads = 0;
  std::uint32_t first_thread = 0;  ///< first thread of the first pipeline of the class
  std::uint32_t first_pipeline = 0;
  std::uint32_t window = 0;  ///< 0: any number
  LatencyHistogram latency;
  Level in_flight;
  double rows_again = 0;  ///< share of requests that take another row than the next
};

struct Pipeline {
  std::uint64_t key = 0;  ///< key for draws
  std::uint32_t rule = 0;
  std::uint32_t first_thread = 0;
  std::uint32_t completed = 0;
  std::uint32_t row = 0;   ///< row of the last request
  std::uint32_t gap = 0;   ///< next of a trace of arrivals
  std::uint32_t mask = 0;  ///< requests in flight have places [number & mask] …
  std::vector<Request> requests;
};

/// The state of a simulation, with the rules of its scenario.
///
/// Threads: one owner.
struct World {
  /// `scenario` passes check().
  explicit World(const Scenario& scenario);

  void keep(LinkEnd& link, const Underway& message);
  /// Returns the oldest that was kept.
  Underway take(LinkEnd& link);

  std::vector<Wire> wires;
  std::vector<CrossingRule> crossings;
  std::vector<ThreadRule> rules;
  std::vector<PipelineRule> classes;
  std::vector<Thread> threads;
  std::vector<LinkEnd> links;
  std::vector<Pass> passes;
  std::vector<Carrier> carriers;  ///< carriers: those of media first, class by class
  std::vector<Device> devices;
  std::vector<std::int64_t> cores;  ///< when each is free
  std::vector<Quota> quotas;
  std::vector<Pipeline> pipelines;

 private:
  void add_class(const Scenario& scenario, const PipelineClass& pipeline);
  void add_rules(const Scenario& scenario, const PipelineClass& pipeline, PipelineRule& rule);
  void add_pipeline(const PipelineClass& pipeline, std::uint32_t class_index, std::uint64_t seed);
  void add_link(const Crossing& crossing, int rule, Thread& thread, std::uint64_t key);
  std::int64_t shift_of(const Wire& wire, bool stagger, std::uint64_t bits) const;

  /// The things of a class, which take their turn.
  struct Turn {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
    std::uint32_t taken = 0;
    std::uint32_t last_pipeline = kNone;

    std::uint32_t next() { return first + taken++ % count; }
    /// Returns the same number for all that a pipeline asks for.
    std::uint32_t next_for(std::uint32_t pipeline) {
      if (last_pipeline != pipeline) ++taken;
      last_pipeline = pipeline;
      return first + (taken - 1) % count;
    }
  };
  std::vector<Underway> underway_;
  std::uint32_t unused_ = kNone;    ///< first unused one of underway_, as a list
  std::vector<Turn> device_turns_;  ///< turns of a class of devices
  std::vector<Turn> medium_turns_;
};

}  // namespace pareto::simulation
