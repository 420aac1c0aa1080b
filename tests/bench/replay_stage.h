// A stage that replays: the daemon's own Stage and links in a process of its own, its shard
// replaced by one that waits for as long as a real one took, without keeping a core busy, and then
// gives a tensor of the real one's size. So a few cores carry many stages.
//
//   pareto_bench ══ tcp ══▶ replay-stage 0 ══ tcp ══▶ … ══ tcp ══▶ replay-stage K-1 ══ tcp
//       ══▶ pareto_bench
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/process.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/transport/transport.h"
#include "daemon/stage/stage_host.h"

namespace pareto::bench {

/// The recorded work of one stage when it was real.
struct StageRecording {
  std::vector<Nanoseconds> compute;  ///< times of one request after another; replayed in turns
  std::uint64_t output_bytes = 0;    ///< bytes of a request
};

/// Returns how to open stage `index` of a ReplayPipeline over tcp: it waits instead of computing.
daemon::OpenStage replay_stage(std::uint32_t index, StageRecording recording);

/// Stages as processes, linked to each other and to this one; they end with it.
///
/// Threads: one owner; source() and sink() may be used by one thread each.
class ReplayPipeline {
 public:
  /// Starts a process for each stage and connects them. Fails: as ChildProcess and links do.
  static Expected<std::unique_ptr<ReplayPipeline>> start(const std::vector<StageRecording>& stages);
  transport::Link& source() { return *source_; }
  transport::Link& sink() { return *sink_; }
  static constexpr std::uint64_t kPipeline = 1;

 private:
  ReplayPipeline(TemporaryFolder folder, std::unique_ptr<transport::Transport> transport)
      : folder_(std::move(folder)), transport_(std::move(transport)) {}
  Expected<std::string> start_stage(std::size_t index, const StageRecording& recording,
                                    const std::string& downstream);

  TemporaryFolder folder_;
  std::vector<cluster::ChildProcess> processes_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<transport::Link> source_;
  std::unique_ptr<transport::Link> sink_;
};

/// `pareto_bench replay-stage …`, the arguments behind that word. Ends by SIGTERM, or with its
/// parent.
int run_replay_stage(int argc, char** argv);

}  // namespace pareto::bench
