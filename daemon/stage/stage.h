// A shard at work in a pipeline: receive → compute → send, each on a thread of its own, with a
// bounded queue between them.
//
//   StageLinks ═receive═▶ queue ═compute (StageWork)═▶ SendQueue ═send (SendTurn)═▶ StageLinks
//
// Waking another thread costs time. If nothing waits to be computed or sent, and sending takes
// little, the compute thread sends what it made itself. If a request comes to an idle stage whose
// engine has one thread, the receiving thread computes it, if the device gives it a turn at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/control/stage_report.h"
#include "core/transport/transport.h"
#include "daemon/stage/hosted_stage.h"
#include "daemon/stage/loaded_shard.h"
#include "daemon/stage/send_turn.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_item.h"
#include "daemon/stage/stage_links.h"
#include "daemon/stage/stage_meter.h"
#include "daemon/stage/stage_threads.h"
#include "daemon/stage/stage_work.h"

namespace pareto::daemon {

/// The most that the requests in one queue of a stage hold, in bytes, unless one alone holds more.
inline constexpr std::uint64_t kQueueBytes = std::uint64_t{256} << 20;

/// The parts that a stage is made of.
struct StageParts {
  StageContext context;  ///< which stage it is; its meter is the stage's alone
  std::shared_ptr<LoadedShard> shard;
  StageTurns turns;
  std::size_t queue = 4;                        ///< capacity of each of its two queues
  std::unique_ptr<transport::Link> downstream;  ///< introduced already; null: the sink will connect
  std::uint64_t queue_bytes = kQueueBytes;      ///< the most that the requests in each queue hold
  bool payload_checksum = true;                 ///< whether a sink that connects is sent checksums
};

/// One stage of a pipeline. Requests leave in the order they came, each once: in_flight is what was
/// taken and has not been sent.
///
/// | what happens | what the stage does |
/// |---|---|
/// | values are ready early | they leave before the request's others (core/wire/parts.h) |
/// | a request fails | it leaves as kError, with this stage's name in its message |
/// | kError comes | it passes |
/// | kEnd comes, or drain() | it leaves after everything else, then the stage is closed |
/// | a link breaks | the stage fails, and closes both links, so that the neighbours notice |
///
/// Owned by StageHost. Threads: every call from any thread.
class Stage final : public HostedStage {
 public:
  explicit Stage(StageParts parts);
  ~Stage() override;

  Expected<> attach(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                    Deadline deadline) override;
  Expected<control::StageReport> change_shard(std::shared_ptr<LoadedShard> shard) override;

 private:
  // Bodies of the stage's threads.
  void receive_requests();
  void compute_requests();
  void send_results();

  /// Returns whether the receiving thread may compute a request that came to a stage with nothing
  /// to do.
  bool may_compute_at_once(const Arrival& arrival) const;
  /// Computes an item, then sends it or queues it to be sent. Waits for a turn of the device unless
  /// there is one. Returns false if the stage has ended, or is about to.
  bool compute_and_send(StageItem& item, std::optional<StageWork::Turn> turn = std::nullopt);
  /// Sends an item, and counts a request out. Returns false if the stage has ended.
  bool send(StageItem& item, SendTurn turn);
  void downstream_ended(const Error& error);

  StageWork& work() override { return work_; }
  Expected<transport::LinkFigures> prime(std::uint64_t output_bytes, TimePoint deadline) override;
  Expected<> start_threads(const transport::LinkFigures& figures,
                           std::uint64_t output_bytes) override;
  void close_parts() override;
  void close_upstream() override { links_.close_upstream(); }
  std::vector<transport::PeerIdentity> peers() const override { return links_.peers(); }
  std::string_view counts() const override { return "request"; }

  StageLinks links_;
  BoundedQueue<StageItem> to_compute_;
  SendQueue to_send_;
  StageWork work_;
  std::atomic<bool> running_{false};  ///< both links are set for good, and may be sent on
};

}  // namespace pareto::daemon
