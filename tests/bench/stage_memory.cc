#include <algorithm>

#include "coordinator/load/load.h"
#include "core/control/greeting.h"
#include "daemon/stage/stage_host.h"
#include "tests/bench/benches.h"
#include "tests/bench/replay_stage.h"
#include "tests/support/tensor_memory.h"

namespace pareto::bench {
namespace {

constexpr int kStageWindow = 8;
constexpr int kStageRequests = 200;
constexpr std::uint64_t kMessageBytes = 600'000;
constexpr std::uint64_t kOutputBytes = 4'000;
constexpr auto kCompute = std::chrono::milliseconds(4);

}  // namespace

Expected<std::vector<Row>> stage_memory(const std::string& name, double bar) {
  constexpr std::chrono::seconds kPatience{10};
  PARETO_ASSIGN(std::shared_ptr<transport::Transport> tcp, transport::make_transport("tcp"));
  PARETO_ASSIGN(const auto host, daemon::StageHost::listen({}, {tcp}, {{"tcp", "127.0.0.1:0"}}));
  PARETO_ASSIGN(const daemon::StageAddresses addresses,
                host->open(replay_stage(0, {{kCompute}, kOutputBytes})));
  const std::uint64_t pipeline = ReplayPipeline::kPipeline;
  PARETO_ASSIGN(
      const auto source,
      control::connect_to_stage(*tcp, addresses.upstream, {pipeline, 0, control::Role::kUpstream},
                                deadline_after(kPatience)));
  PARETO_ASSIGN(const auto sink, control::connect_to_stage(*tcp, addresses.upstream,
                                                           {pipeline, 0, control::Role::kSink},
                                                           deadline_after(kPatience)));
  PARETO_TRY(host->start(pipeline, 0, *deadline_after(kPatience)));
  PARETO_ASSIGN(Tensor input, Tensor::allocate(DType::kFloat32, {kMessageBytes / sizeof(float)}));
  const Value request{Tuple{{Value(std::move(input))}}};

  const std::uint64_t before = test::tensor_bytes();
  test::forget_peak();
  load::LoadOptions options;
  options.window = kStageWindow;
  options.requests = kStageRequests;
  PARETO_TRY(load::Load(*source, *sink, pipeline).run(request, options));
  const auto held = static_cast<double>(test::peak_tensor_bytes() - before);
  PARETO_TRY(host->close(pipeline, 0));
  return std::vector<Row>{
      {name, held / static_cast<double>(kStageWindow * kMessageBytes), bar, false,
       fmt::format("{:.1f} MB held by tensors at most / {} x {:.1f} MB; a source that is always "
                   "ahead of a stage of {} ms",
                   held / 1e6, kStageWindow, kMessageBytes / 1e6, kCompute.count())}};
}

}  // namespace pareto::bench
