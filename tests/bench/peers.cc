// This build's engines next to ONNX Runtime's, in turns.
#include <algorithm>
#include <cstring>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/exported_model.h"
#include "tests/bench/loaded_model.h"
#include "tests/bench/onnx_runtime.h"

namespace pareto::bench {
namespace {

constexpr double kMostPeerError = 1e-3;  // relative to the largest output, as engines are held to
constexpr Nanoseconds kPeerTurn = std::chrono::milliseconds(100);
constexpr int kMostRunsATurn = 40;
constexpr Nanoseconds kPeerTime = std::chrono::seconds(8);
constexpr int kLeastPeerRounds = 7;

/// Returns the largest difference of two outputs. Fails: kInternal if the outputs differ by more
/// than kMostPeerError.
Expected<double> compare_outputs(const std::vector<Value>& ours, const std::string& theirs) {
  const Tensor* output = ours.size() == 1 ? ours[0].get_if<Tensor>() : nullptr;
  if (output == nullptr || output->size_bytes() != theirs.size()) {
    return fail(ErrorCode::kInternal, "ONNX Runtime's output has {} bytes, ours is {}",
                theirs.size(), describe(Tuple{ours}));
  }
  PARETO_ASSIGN(Tensor expected, Tensor::allocate(output->dtype(), output->shape()));
  std::memcpy(expected.mutable_bytes().data(), theirs.data(), theirs.size());
  const double error = relative_error(expected, *output);
  if (error <= kMostPeerError) return error;
  return fail(ErrorCode::kInternal, "outputs differ from ONNX Runtime's by {:.2g} of the largest",
              error);
}

double median_ms(const std::vector<Nanoseconds>& times) {
  std::vector<double> sorted;
  for (const Nanoseconds time : times) sorted.push_back(to_milliseconds(time));
  return statistics::median(sorted);
}

Expected<std::vector<Nanoseconds>> timed_runs(runtime::ShardRunner& runner,
                                              const std::vector<Value>& inputs, int count) {
  const SteadyClock clock;
  std::vector<Nanoseconds> times;
  for (int i = 0; i < count; ++i) {
    const TimePoint begin = clock.now();
    PARETO_TRY(runner.run(inputs));
    times.push_back(clock.now() - begin);
  }
  return times;
}

/// Medians of turns, in milliseconds, by round.
struct PeerRounds {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
};

/// Takes turns for a while. A turn's first run is dropped: until then the caches are the other's.
Expected<PeerRounds> take_turns(runtime::ShardRunner& runner, const std::vector<Value>& inputs,
                                OnnxRuntime& peer) {
  const SteadyClock clock;
  PARETO_ASSIGN(const auto warm, timed_runs(runner, inputs, 2));
  const int runs = static_cast<int>(std::clamp<std::int64_t>(
      kPeerTurn / std::max(warm.back(), Nanoseconds(1)), 1, kMostRunsATurn));
  const auto turn_of = [](std::vector<Nanoseconds> times) {
    times.erase(times.begin());
    return median_ms(times);
  };
  PeerRounds rounds;
  const TimePoint begin = clock.now();
  while (rounds.ours.size() < kLeastPeerRounds || clock.now() - begin < kPeerTime) {
    PARETO_ASSIGN(const auto ours, timed_runs(runner, inputs, runs + 1));
    PARETO_ASSIGN(const auto theirs, peer.run(runs + 1));
    if (theirs.size() != ours.size()) {
      return fail(ErrorCode::kUnavailable, "ONNX Runtime's process measured {} of {} runs",
                  theirs.size(), ours.size());
    }
    rounds.ours.push_back(turn_of(ours));
    rounds.theirs.push_back(turn_of(theirs));
    rounds.ratios.push_back(rounds.ours.back() / rounds.theirs.back());
  }
  return rounds;
}

}  // namespace

Expected<std::vector<Row>> onnx_runtime(const std::string& name, const std::string& model_name,
                                        int threads, int batch, double bar) {
  PARETO_ASSIGN(const ExportedModel files, exported_model(model_name));
  model::zoo::ModelOptions opening;
  PARETO_ASSIGN(opening.input,
                model::parse_input_shapes(model_name == "inceptionv3" ? "3x299x299" : "3x224x224"));
  PARETO_ASSIGN(const auto model, model::zoo::open_model(files.torchscript, opening));
  PARETO_ASSIGN(const auto inputs, model.example_inputs(batch, 1));
  const Tensor* input = inputs.at(0).get_if<Tensor>();
  if (input == nullptr) return fail(ErrorCode::kInternal, "{} takes no tensor", model_name);
  PARETO_ASSIGN(const auto peer, OnnxRuntime::start(files.onnx, threads, *input));
  runtime::RunnerOptions options;
  options.threads = threads;
  options.batch = batch;
  PARETO_ASSIGN(const auto runner, load_part(model, 0, operators_of(model), options));
  PARETO_ASSIGN(const auto ours, runner->run(inputs));
  PARETO_ASSIGN(const auto theirs, peer->output());
  PARETO_ASSIGN(const double error, compare_outputs(ours, theirs));
  PARETO_ASSIGN(const PeerRounds rounds, take_turns(*runner, inputs, *peer));
  const auto [least, most] = std::ranges::minmax(rounds.ratios);
  return std::vector<Row>{
      {name, statistics::median(rounds.ratios), bar, false,
       fmt::format(
           "{:.2f} ms ({}) / {:.2f} ms of ONNX Runtime {}, {} rounds, ratios {:.2f} to {:.2f}; "
           "outputs differ by {:.0e}",
           statistics::median(rounds.ours), runner->report().engine,
           statistics::median(rounds.theirs), peer->version(), rounds.ours.size(), least, most,
           error)}};
}

}  // namespace pareto::bench
