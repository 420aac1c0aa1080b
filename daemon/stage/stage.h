// A shard at work in a pipeline: receive → compute → send, each on a thread of its own, a bounded queue between them.
//
//   upstream Link ═receive═▶ queue ═compute (LoadedShard)═▶ queue ═send═▶ downstream Link
//                                                        answer ◀═ pings from downstream
//
// Waking another thread costs time. Where nothing waits to be computed or sent, and sending takes little, the compute thread sends what
// it made itself; and where a request comes to an idle stage whose engine has one thread, the receiving thread computes it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/control/hello.h"
#include "core/control/stage_report.h"
#include "core/transport/ping.h"
#include "core/transport/transport.h"
#include "core/wire/parts.h"
#include "daemon/stage/early_parts.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_meter.h"

namespace pareto::transport {
struct LinkFigures;
}

namespace pareto::daemon {

/// What the lines about a stage can be searched by: PARETO_PIPELINE (16 hexadecimal digits) and PARETO_STAGE.
std::vector<LogField> log_fields(std::uint64_t pipeline, std::uint32_t stage);

/// What a stage does, and where its meter counts it.
struct WatchedStage {
  StagePlace place;
  control::StageActivity activity;
};

/// What the requests in one queue of a stage may hold, unless one alone holds more.
inline constexpr std::uint64_t kQueueBytes = std::uint64_t{256} << 20;

/// What a stage is made of.
struct StageParts {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;
  std::string device;  ///< for errors: "stage 1 on pi-2: …"
  std::shared_ptr<LoadedShard> shard;
  std::size_t queue = 4;                        ///< capacity of each of its two queues
  std::unique_ptr<transport::Link> downstream;  ///< introduced already; null: the sink will connect
  std::shared_ptr<StageMeter> meter;            ///< what it counts into
  std::uint64_t queue_bytes = kQueueBytes;      ///< what the requests in each queue may hold
  bool payload_checksum = true;                 ///< of what it sends to a sink that connects
};

/// Requests leave in the order they came; values of one that are ready early leave before its others (core/wire/parts.h). One that fails leaves as kError, with this stage's name in its message; kError from
/// upstream passes. kEnd drains: it leaves after everything else, then the stage is closed. A broken link makes the stage failed and
/// closes both links, so that the neighbours notice.
///
/// Owned by StageHost. Threads: every call from any thread; close() and the destructor wait for the stage's own threads.
class Stage {
 public:
  explicit Stage(StageParts parts);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Takes a link that has said hello in `role` and answers it kReady; from then on pings on it are answered. Fails: kInvalidArgument
  /// (there is one already, or the role does not fit) and kClosed (the stage has ended), the link left to the caller unless it was taken
  /// before; and as links do.
  Expected<> attach(control::Role role, std::unique_ptr<transport::Link>& link, Deadline deadline);
  /// Waits for both links, starts the threads, primes the downstream link. Returns its smallest round trip; 0 where the sink
  /// connects. Once only. Fails: kTimeout (naming who did not connect), kClosed, and as links do.
  Expected<Nanoseconds> start(TimePoint deadline);
  /// From the next request on it runs that shard; its links, and how warm they are, stay as they are. What the profile says of a request
  /// is forgotten; counts and times go on. Returns its status before. Fails:
  /// kInvalidArgument (it does not run, or has a request in flight), kExhausted (its downstream link was not primed for messages as
  /// large as the shard sends: open another stage).
  Expected<control::StageReport> change_shard(std::shared_ptr<LoadedShard> shard);

  /// Takes no more requests; those that came are finished and sent, then kEnd. Returns at once.
  void drain();
  /// Waits until the stage has ended. False at the deadline.
  bool wait_ended(TimePoint deadline);
  /// Ends it at once, requests in flight or not, and joins its threads. False at the deadline: a thread of it still computes; it is to be
  /// kept until another close_by() returns true.
  bool close_by(TimePoint deadline);
  /// As close_by(), however long it takes.
  void close();

  control::StageReport status() const;
  WatchedStage watch() const;
  /// When it was opened, where it has not run yet; when it ended; none: it is at work.
  std::optional<TimePoint> idle_since() const;

 private:
  struct Item {
    wire::Message message;
    wire::StageTimes times;   ///< without encode and send
    TimePoint queued;         ///< when it had been received: from then on it waits
    std::uint64_t bytes = 0;  ///< what it holds, about
  };
  static std::uint64_t bytes_of(const Item& item) { return item.bytes; }

  std::shared_ptr<LoadedShard> shard() const;
  control::StageReport status_locked() const;

  void receive_requests();
  void compute_requests();
  void send_results();
  void answer_downstream();

  /// For the receiving thread: whether to compute a request of so many bytes that came, after so much waiting for it, to a stage with
  /// nothing to do.
  bool may_compute_at_once(Nanoseconds waited, std::uint64_t wire_bytes) const;
  /// For the thread that computed: whether to send what it made itself.
  bool may_send_at_once(const Item& item) const;
  /// False: the stage has ended, or is about to.
  bool compute_and_send(Item& item);
  /// False: the stage has ended.
  bool send(Item& item);

  bool take(transport::Received received, Nanoseconds waited);
  bool take_part(transport::Received received);
  bool take_request(transport::Received received, Nanoseconds waited);
  void compute(Item& item);
  Expected<std::vector<Value>> run(Item& item);
  Error of_this_stage(const Error& error) const;
  /// What is sent on instead of a request's values; counted, and told to the log.
  wire::Message failure_of(std::uint64_t request, const Error& error);
  /// For the thread that computes.
  bool queue_to_send(Item item);
  Expected<transport::Sent> send_downstream(const wire::Message& message);
  void pass_end();
  void upstream_ended(const Error& error);
  void downstream_ended(const Error& error);

  /// Starts a thread of this stage. With mutex_ held. Fails: kExhausted (the system has no thread left).
  Expected<> start_thread(std::jthread& thread, void (Stage::*body)());
  Expected<> start_threads(const transport::LinkFigures& figures, std::uint64_t output_bytes);
  /// Ends the stage once: the first reason counts. `failure`: none = closed in order.
  void end(std::optional<std::string> failure);
  std::string name() const;

  const std::uint64_t pipeline_;
  const std::uint32_t index_;
  const std::string device_;
  const bool sink_connects_;
  const bool payload_checksum_;

  mutable std::mutex mutex_;
  std::shared_ptr<LoadedShard> shard_;
  std::uint64_t warm_for_ = UINT64_MAX;  ///< bytes of a message on the downstream link
  std::condition_variable changed_;
  control::StageState state_ = control::StageState::kOpening;
  std::string failure_;
  const TimePoint opened_at_ = std::chrono::steady_clock::now();
  std::optional<TimePoint> ended_at_;
  bool upstream_taken_ = false;
  bool downstream_taken_;
  bool started_ = false;
  int threads_ = 0;  ///< those that run
  std::atomic<bool> ended_{false};
  std::atomic<bool> running_{false};  ///< both links are set for good, and may be sent on
  // Set once under mutex_, before the threads that use them start; closed by anyone, destroyed after all threads ended.
  std::unique_ptr<transport::Link> upstream_;
  transport::PingAnswers upstream_answers_;
  std::unique_ptr<transport::Link> downstream_;

  std::mutex send_mutex_;  ///< results and pongs share the downstream link
  BoundedQueue<Item> to_compute_;
  BoundedQueue<Item> to_send_;
  std::atomic<std::uint64_t> unsent_{0};  ///< given to the sending thread, not yet sent
  /// A message cannot carry what its own encoding and sending took: the next one does. Of the sending thread while something is
  /// unsent, else of the thread that computes.
  transport::Sent last_sent_;
  transport::Sent parts_sent_;  ///< of the request whose kValues are to come; same owner
  /// A request one of whose parts no link would take; same owner.
  struct Refused {
    std::uint64_t request = 0;
    Error error;
  };
  std::optional<Refused> refused_;
  wire::PartAssembler assembler_;       ///< of the receiving thread …
  transport::Received parts_received_;  ///< … as are the times of what is in it
  const SteadyClock clock_;
  EarlyParts early_;  ///< of the thread that computes
  const std::shared_ptr<StageMeter> meter_;

  std::mutex join_mutex_;
  std::jthread receiving_;
  std::jthread computing_;
  std::jthread sending_;
  std::jthread answering_;
};

}  // namespace pareto::daemon
