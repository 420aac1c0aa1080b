// Every bench there is; builtin_benches.cc names them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/clock.h"
#include "core/plan/condition.h"
#include "runtime/shard_runner.h"
#include "tests/bench/bench.h"

namespace pareto::bench {

/// Measures the uncut model in our runtime against the frozen TorchScript module in plain LibTorch,
/// both on one thread.
Expected<std::vector<Row>> unsplit(const std::string& name, const std::string& model,
                                   runtime::Precision precision, double bar);
/// Measures the uncut model in our runtime against ONNX Runtime with the same weights, input and
/// number of threads: times of a batch. Fails too if their outputs differ.
Expected<std::vector<Row>> onnx_runtime(const std::string& name, const std::string& model,
                                        int threads, int batch, double bar);
/// Measures the engine that "auto" chose against the fastest of all engines, at batches 1 to 16.
Expected<std::vector<Row>> auto_engine(const std::string& name, const std::string& model,
                                       int threads);
/// Measures prefix and suffix in one process, values of the boundary handed over, against the uncut
/// model.
Expected<std::vector<Row>> split_overhead(const std::string& name, const std::string& model,
                                          std::int64_t batch, double bar);
/// Measures the time from a TorchScript file to two halves that are ready to run, against what it
/// may take: the file is read, examined and cut in its middle, and each half chooses its engine, on
/// one thread.
Expected<std::vector<Row>> prepare_split(const std::string& name, const std::string& model,
                                         std::chrono::milliseconds most);
/// Measures the best two-stage pipeline, each daemon with a core and a thread of its own, against
/// one such daemon: samples a second.
Expected<std::vector<Row>> two_stage(const std::string& name, const std::string& model, double bar);
/// Measures bytes of weights that each device was sent in a sweep over module split points, against
/// the model's.
Expected<std::vector<Row>> weights_sent(const std::string& name, const std::string& model,
                                        double bar);
struct ScheduleBars {
  double over_sequential = 0;
  double over_intraop = 1;
};
/// Measures a model on two cores by the best schedule against one thread, against two threads that
/// share each operator, and what "auto" chose against the best; batch 1.
Expected<std::vector<Row>> schedule_gain(const std::string& name, const std::string& model,
                                         const ScheduleBars& bars);
/// Measures what "auto" chose against the best, as schedule_gain() does.
Expected<std::vector<Row>> schedule_auto(const std::string& name, const std::string& model);
/// Measures eight samples as two micro-batches on two cores against one thread.
Expected<std::vector<Row>> schedule_microbatch(const std::string& name, const std::string& model);
/// Measures what a schedule of one unit costs a stage of 1 ms.
Expected<std::vector<Row>> schedule_overhead(const std::string& name);
/// Counts outputs that are not those of the plain engine bit for bit, on one thread or on all, by
/// every schedule: one sample of the model's own size, three and eight smaller ones.
Expected<std::vector<Row>> schedule_mismatches(const std::string& name,
                                               const std::vector<std::string>& models);

/// Measures a mix of tasks on two workers against the same one after the other on one thread and on
/// all threads, and against a pool of as many threads.
Expected<std::vector<Row>> tasks_gain(const std::string& name, std::size_t count,
                                      double heavy_share);
/// Measures ten seeded mixes against a plain queue of whole tasks to two pinned threads, and how
/// far predicted makespans are off.
Expected<std::vector<Row>> tasks_mixes(const std::string& name);
/// Counts the deadlines that small tasks miss next to a load, earliest deadline first, against
/// those of a queue.
Expected<std::vector<Row>> tasks_deadlines(const std::string& name);
/// Counts tasks whose outputs are not those of the whole model bit for bit, by every schedule.
Expected<std::vector<Row>> tasks_mismatches(const std::string& name);

/// Counts parameters, statistics and optimiser's tensors that differ after 20 steps: models in two
/// and three stages over two daemons, against the uncut model in this process.
Expected<std::vector<Row>> training_mismatches(const std::string& name,
                                               const std::vector<std::string>& models);
/// Measures a step of training in two stages in one process against a step of the uncut model.
Expected<std::vector<Row>> training_overhead(const std::string& name, const std::string& model);
/// Measures a step in micro-batches over two daemons of a core and a thread each against one such
/// daemon.
Expected<std::vector<Row>> training_speedup(const std::string& name, const std::string& model);

/// Measures the 99th percentile of a light pipeline's latency next to a greedy one on the same
/// core, by the fair policy, against the light one alone.
Expected<std::vector<Row>> fair_latency(const std::string& name);
/// Measures the deadlines that such a pipeline misses next to a load, earliest deadline first,
/// against those that it misses first in, first out.
Expected<std::vector<Row>> daemon_deadlines(const std::string& name);
/// A daemon whose owner limits it, and what makes it reach the limit.
struct LimitedShare {
  std::vector<std::string> flags;
  double percent = 100;  ///< share of the processor time that it may use …
  int of_cores = 1;      ///< … of this number of cores
  std::vector<std::string> models;
  unsigned others = 0;  ///< threads of this process that keep cores busy next to it
};
/// Measures by how many points the daemon's processor time over a minute is off its limit.
Expected<std::vector<Row>> limited_share(const std::string& name, const LimitedShare& limit);

/// Milliseconds of a two-stage pipeline's latency that are no stage's compute, for a boundary of
/// about 150 KB.
Expected<std::vector<Row>> pipeline_overhead(const std::string& name, const std::string& model,
                                             const std::string& transport, double bar);
/// Measures how much of its bottleneck's time a pipeline uses with a window of ceil(L / B) + 2, and
/// what a request then takes: the model cut in two on two daemons, a core and a thread each …
Expected<std::vector<Row>> real_pipeline(const std::string& name, const std::string& model,
                                         double bar);
/// … or cut in `stages` (1 to 4), which are recorded first, and then replayed by processes that do
/// not keep a core busy.
Expected<std::vector<Row>> replayed_pipeline(const std::string& name, const std::string& model,
                                             int stages, std::optional<double> bar);
/// Measures what tensors hold at most in a stage, while its source has a window of 8 to fill and is
/// faster than it, against 8 messages.
Expected<std::vector<Row>> stage_memory(const std::string& name, double bar);
/// Measures what metrics cost a stage of 1 ms, counting and being scraped once a second, against 1
/// % of its time.
Expected<std::vector<Row>> metrics_cost(const std::string& name);

/// Measures how many 95 % intervals of 1, 2, 3 and 6 rounds hold the median of 30 rounds of the
/// same plan, both figures, while a loop keeps one core busy: of 200 plans and subsets of rounds,
/// drawn from a recorded sweep. `…of4`: the other plans have four rounds at least.
Expected<std::vector<Row>> interval_coverage(const std::string& name);

/// Measures the report of 225 split points under four networks: its size, and how long a browser
/// takes to open it and to show the next plan.
Expected<std::vector<Row>> report_page(const std::string& name);

/// Measures every search strategy against trying all placements, on 100,000 random instances: how
/// many fronts differ.
Expected<std::vector<Row>> search_mismatches(const std::string& name);
/// Measures the search's processor time for a model of `positions` positions on `devices` different
/// devices, against what it may take; the worst of a few instances, each on one thread. `room`: the
/// share of the model's weights that each device has room for; 1: no limits.
Expected<std::vector<Row>> search_time(const std::string& name, int positions, int devices,
                                       std::chrono::milliseconds most, double room);
/// Measures the same with modelled energy as a third objective, in milliseconds.
Expected<std::vector<Row>> search_time_of_three(const std::string& name, int positions,
                                                int devices);
/// Measures the same of two objectives where every two devices share a medium that the messages of
/// both pass.
Expected<std::vector<Row>> search_time_of_media(const std::string& name, int positions,
                                                int devices);
/// Measures the way from a model's graph to the front over all its ideals, against what that may
/// take.
Expected<std::vector<Row>> search_time_of_ideals(const std::string& name, const std::string& model,
                                                 int devices, std::chrono::milliseconds most);

/// Measures the simulator's processor time for ten million requests through ten thousand devices,
/// against a minute.
Expected<std::vector<Row>> simulated_fleet(const std::string& name);

/// Measures a message's crossing by the codec that auto chooses against the best codec, at 5 to
/// 1000 Mbit/s, for what crosses a model's module split points; the worst of all of them. Codecs
/// are measured, and the wire is its rate. Rows next to, where it may lose up to 1 %.
Expected<std::vector<Row>> codec_auto(const std::string& name, const std::string& model);
/// Measures the same over wires that are as slow, for a few split points, auto's rate measured as
/// daemons do. Needs root.
Expected<std::vector<Row>> codec_auto_wire(const std::string& name, const std::string& model);

/// Measures every transport that leaves the process against a bare socket (shm: against memcpy), to
/// another process on another core: round trips and one-way streams of messages of 1 KB to 13 MB.
Expected<std::vector<Row>> transport_latency(const std::string& name, const std::string& transport);
Expected<std::vector<Row>> transport_goodput(const std::string& name, const std::string& transport);
/// Goodput with a checksum of every tensor against goodput without, over a network transport.
Expected<std::vector<Row>> checksum_cost(const std::string& name, const std::string& transport);
/// Measures what mutual TLS leaves of a network transport's goodput, and the milliseconds that it
/// adds to a message of 150 KB one way.
Expected<std::vector<Row>> tls_goodput(const std::string& name, const std::string& transport);
Expected<std::vector<Row>> tls_latency(const std::string& name, const std::string& transport);
/// Measures what grpc reaches of tcp's goodput, and how many times its processor time a byte.
Expected<std::vector<Row>> grpc_over_tcp(const std::string& name);

/// Measures the emulated link against what it is asked for, each against what it may be off by.
/// Needs root.
Expected<std::vector<Row>> emulated_round_trip(const std::string& name, double milliseconds);
Expected<std::vector<Row>> emulated_goodput(const std::string& name, int megabits,
                                            Nanoseconds delay, double bar);
Expected<std::vector<Row>> emulated_loss(const std::string& name, double share);
Expected<std::vector<Row>> emulated_jitter(const std::string& name, plan::JitterShape shape);
/// Measures a step from 100 to 10 Mbit/s: until no more than that comes across.
Expected<std::vector<Row>> emulated_step(const std::string& name);

}  // namespace pareto::bench
