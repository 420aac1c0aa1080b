#include "tests/bench/replay_stage.h"

#include <sys/prctl.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/control/greeting.h"
#include "core/tensor/tensor_pool.h"
#include "daemon/process.h"
#include "runtime/shard_runner.h"

namespace pareto::bench {
namespace {

constexpr std::chrono::seconds kReplayPatience{30};
constexpr const char* kTransport = "tcp";

class ReplayRunner final : public runtime::ShardRunner {
 public:
  explicit ReplayRunner(StageRecording recording) : recording_(std::move(recording)) {}

  Expected<std::vector<Value>> run(std::vector<Value>) override {
    const Nanoseconds wanted = recording_.compute[runs_++ % recording_.compute.size()];
    const Nanoseconds end = std::chrono::steady_clock::now().time_since_epoch() + wanted;
    const auto elements = static_cast<std::int64_t>(recording_.output_bytes / sizeof(float));
    PARETO_ASSIGN(Tensor output, pool_.allocate(DType::kFloat32, {1, elements}));
    // Written by this core, as a real operator's output is.
    std::memset(output.mutable_bytes().data(), 1, output.size_bytes());
    const timespec deadline{end.count() / std::nano::den, end.count() % std::nano::den};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
    }
    return std::vector<Value>{Value(std::move(output))};
  }
  Expected<runtime::ShardProfile> profile(std::vector<Value>, int,
                                          const std::vector<std::int64_t>&) override {
    return fail(ErrorCode::kInternal, "a replayed shard has no operators");
  }
  const runtime::LoadReport& report() const override { return report_; }

 private:
  const StageRecording recording_;
  std::size_t runs_ = 0;
  TensorPool pool_;
  runtime::LoadReport report_{.engine = "replay", .timings = {}};
};

plan::BoundaryValue tensor_value(const char* name, std::uint64_t bytes) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor = {DType::kFloat32, {{0, 1}, {static_cast<std::int64_t>(bytes / sizeof(float)), 0}}};
  return {name, spec};
}

std::string recording_json(const StageRecording& recording) {
  std::vector<std::int64_t> compute;
  for (const Nanoseconds time : recording.compute) compute.push_back(time.count());
  return nlohmann::json{{"compute_ns", compute}, {"output_bytes", recording.output_bytes}}.dump();
}

Expected<StageRecording> read_recording(const std::filesystem::path& path) {
  PARETO_ASSIGN(const std::string text, read_file(path));
  const auto json = nlohmann::json::parse(text);
  StageRecording recording;
  for (const std::int64_t time : json.at("compute_ns")) recording.compute.emplace_back(time);
  recording.output_bytes = json.at("output_bytes");
  return recording;
}

/// Serves until SIGTERM.
Expected<> serve(std::uint32_t index, const std::string& recording_file,
                 const std::string& downstream, int ready_fd) {
  PARETO_TRY(daemon::end_with_parent());
  // Waits end when they should, not up to 50 µs later; threads inherit it.
  ::prctl(PR_SET_TIMERSLACK, 1);
  PARETO_ASSIGN(StageRecording recording, read_recording(recording_file));
  PARETO_ASSIGN(std::shared_ptr<transport::Transport> tcp, transport::make_transport(kTransport));
  daemon::StageHostOptions options;
  options.device = fmt::format("replay-{}", index);
  PARETO_ASSIGN(const auto host,
                daemon::StageHost::listen(options, {tcp}, {{kTransport, "127.0.0.1:0"}}));
  daemon::OpenStage request = replay_stage(index, std::move(recording));
  request.asked.downstream = downstream;
  PARETO_ASSIGN(const daemon::StageAddresses addresses, host->open(std::move(request)));
  PARETO_TRY(daemon::tell_ready(ready_fd, addresses.upstream));
  PARETO_TRY(host->start(ReplayPipeline::kPipeline, index, *deadline_after(kReplayPatience)));
  static_cast<void>(daemon::wait_signal(std::nullopt));
  return {};
}

}  // namespace

daemon::OpenStage replay_stage(std::uint32_t index, StageRecording recording) {
  plan::Shard shard;
  shard.inputs = {tensor_value("x", 0)};
  shard.outputs = {tensor_value("y", recording.output_bytes)};
  daemon::OpenStage stage;
  stage.asked.pipeline = ReplayPipeline::kPipeline;
  stage.asked.stage = index;
  stage.shard =
      std::make_shared<daemon::LoadedShard>("replay", std::move(shard), runtime::RunnerOptions{},
                                            std::make_unique<ReplayRunner>(std::move(recording)));
  stage.asked.transport = kTransport;
  stage.asked.downstream_transport = kTransport;
  return stage;
}

int run_replay_stage(int argc, char** argv) {
  CLI::App app("a stage of the pipeline benches");
  std::uint32_t index = 0;
  std::string recording;
  std::string downstream;
  int ready_fd = -1;
  app.add_option("--index", index)->required();
  app.add_option("--recording", recording)->required();
  app.add_option("--downstream", downstream);
  app.add_option("--ready-fd", ready_fd)->required();
  CLI11_PARSE(app, argc, argv);
  daemon::prepare_signals();
  const auto served = serve(index, recording, downstream, ready_fd);
  if (!served) fmt::print(stderr, "{}\n", served.error().message);
  return served ? 0 : 1;
}

Expected<std::string> ReplayPipeline::start_stage(std::size_t index,
                                                  const StageRecording& recording,
                                                  const std::string& downstream) {
  const std::string name = fmt::format("replay-{}", index);
  const auto file = folder_.path() / (name + ".json");
  PARETO_TRY(write_file_atomically(file, recording_json(recording)));
  std::vector<std::string> arguments{"replay-stage", "--index", std::to_string(index),
                                     "--recording", file.string()};
  if (!downstream.empty()) arguments.insert(arguments.end(), {"--downstream", downstream});
  PARETO_ASSIGN(auto process, cluster::ChildProcess::start("/proc/self/exe", arguments,
                                                           folder_.path() / (name + ".log")));
  processes_.push_back(std::move(process));
  return processes_.back().wait_ready(deadline_after(kReplayPatience));
}

Expected<std::unique_ptr<ReplayPipeline>> ReplayPipeline::start(
    const std::vector<StageRecording>& stages) {
  PARETO_ASSIGN(auto folder, TemporaryFolder::create("pareto-replay"));
  PARETO_ASSIGN(auto tcp, transport::make_transport(kTransport));
  std::unique_ptr<ReplayPipeline> pipeline(new ReplayPipeline(std::move(folder), std::move(tcp)));
  pipeline->processes_.reserve(stages.size());
  std::string front;
  std::string last;
  for (std::size_t i = stages.size(); i-- > 0;) {
    PARETO_ASSIGN(front, with_context(pipeline->start_stage(i, stages[i], front), "stage {}", i));
    if (last.empty()) last = front;
  }
  PARETO_ASSIGN(pipeline->source_,
                control::connect_to_stage(*pipeline->transport_, front,
                                          {kPipeline, 0, control::Role::kUpstream},
                                          deadline_after(kReplayPatience)));
  PARETO_ASSIGN(pipeline->sink_,
                control::connect_to_stage(*pipeline->transport_, last,
                                          {kPipeline, static_cast<std::uint32_t>(stages.size() - 1),
                                           control::Role::kSink},
                                          deadline_after(kReplayPatience)));
  return pipeline;
}

}  // namespace pareto::bench
