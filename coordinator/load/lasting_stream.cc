#include "coordinator/load/lasting_stream.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "coordinator/load/happenings.h"
#include "coordinator/load/hurry.h"
#include "coordinator/load/loss_text.h"
#include "coordinator/load/ordered_results.h"
#include "coordinator/load/request_backlog.h"
#include "coordinator/load/stream_epoch.h"
#include "core/base/file_descriptor.h"

namespace pareto::load {
namespace {

/// The number of pipelines with which a request is lost before it counts as what breaks them. It
/// has the last of these to itself.
constexpr int kMostPipelines = 3;
/// With the time that a connection attempt repeats itself, half a second, a pipeline is back soon
/// after a network is.
constexpr Nanoseconds kLongestPause = std::chrono::milliseconds(400);
/// Requests that are given out before the first of them is delivered, against the window. While a
/// slow pipeline answers its last window, a pipeline that is this many times as fast need not wait.
constexpr std::size_t kMostAheadWindows = 16;

/// One stream of requests over all pipelines that it needs until it ends. It has more than 20
/// methods: steps of a life that sending, receiving, losing and replanning share.
///
/// Threads: one owner.
class LastingStream {
 public:
  LastingStream(PipelineOpener& opener, const LastingOptions& options, RequestSource& requests,
                RequestSink& results, StreamObserver& observer)
      : opener_(&opener),
        options_(options),
        stream_(options.stream),
        results_(results),
        observer_(observer),
        backlog_(requests, most_ahead(options.stream.window)) {
    if (options_.desk != nullptr) options_.desk->open([this] { happenings_.tell(); });
  }
  ~LastingStream() {
    if (options_.desk != nullptr) options_.desk->close();
  }
  LastingStream(const LastingStream&) = delete;
  LastingStream& operator=(const LastingStream&) = delete;

  Expected<> run() {
    PARETO_ASSIGN(auto pipeline, open());
    current_ = epoch_of(std::move(pipeline));
    observer_.opened(current_->pipeline(), std::nullopt, 0);
    backlog_.give_to(current_->taker());
    for (;;) {
      std::optional<Error> loss;
      if (next_) {
        loss = change_over();
      } else if (current_->has_ended()) {
        EpochEnd& end = current_->end();
        if (!end.loss) return finish();
        again_ = put_back(end);
        loss = end.loss;
      } else if (change_ && change_->has_opened()) {
        hand_over();
      } else if (!begin_change()) {
        happenings_.wait();
      }
      if (loss && !recover(*loss)) return give_up(*std::move(loss));
    }
  }

 private:
  static std::size_t most_ahead(int window) {
    return kMostAheadWindows * static_cast<std::size_t>(std::max(window, 1));
  }

  /// Devices may take long to open their stages, and to close them: somebody who wants to stop does
  /// not wait.
  Expected<std::unique_ptr<StreamPipeline>> open() {
    const Hurry hurry(*opener_, options_.stop);
    return opener_->open();
  }
  std::unique_ptr<StreamEpoch> epoch_of(std::unique_ptr<StreamPipeline> pipeline) {
    return std::make_unique<StreamEpoch>(std::move(pipeline), stream_, options_, backlog_, results_,
                                         [this] { happenings_.tell(); });
  }

  /// Returns whether a change was asked for: the next pipeline is opened from now on.
  bool begin_change() {
    if (change_ || options_.desk == nullptr) return false;
    std::optional<SwitchRequest> request = options_.desk->take();
    if (!request) return false;
    change_ = std::make_unique<PipelineSwitch>(*std::move(request), [this] {
      const std::uint64_t once = 1;
      static_cast<void>(!::write(change_opened_.get(), &once, sizeof once));
      happenings_.tell();
    });
    return true;
  }
  /// Gives requests to the next pipeline, if it is open.
  void hand_over() {
    auto pipeline = change_->take_pipeline();
    if (!pipeline) return stay(std::move(pipeline).error());
    request_ = change_->take_request();
    const StreamOptions before = std::exchange(stream_, request_.stream);
    next_ = epoch_of(*std::move(pipeline));
    stream_ = before;
    backlog_.bound(most_ahead(std::max(before.window, request_.stream.window)));
    handed_over_ = std::chrono::steady_clock::now();
    results_.begin_gap();
    current_->watch_closely(true);
    next_->watch_closely(true);
    backlog_.give_to(next_->taker());
  }
  /// Goes on while both pipelines run. Returns why both are lost, if they are.
  std::optional<Error> change_over() {
    if (next_->has_ended()) return end_of_next();
    if (current_->has_ended()) return end_of_current();
    const RequestTaker::Counts old = current_->counts();
    const RequestTaker::Counts young = next_->counts();
    const TimePoint idle = handed_over_ + options_.idle;
    if (old.unanswered() > 0 || (young.given > 0 && young.answered == 0)) {
      happenings_.wait();
    } else if (young.given == 0 && std::chrono::steady_clock::now() < idle) {
      happenings_.wait_until(idle);
    } else {
      complete({});
    }
    return std::nullopt;
  }
  /// The next pipeline has ended before the change was complete.
  std::optional<Error> end_of_next() {
    EpochEnd& end = next_->end();
    if (!end.loss) {
      complete({});
      return std::nullopt;
    }
    if (is_lost_too(*current_)) return lose_both(current_->end(), end);
    put_back(end);
    current_->watch_closely(false);
    backlog_.give_to(current_->taker());
    next_->pipeline().abandon();
    const Error why{end.loss->code, "the next pipeline broke: " + end.loss->message};
    next_.reset();
    stay(why);
    return std::nullopt;
  }
  /// The pipeline before was lost before it had answered all: the next one does.
  std::optional<Error> end_of_current() {
    EpochEnd& end = current_->end();
    if (end.loss && is_lost_too(*next_)) return lose_both(end, next_->end());
    SwitchReport report;
    report.lost = end.loss;
    report.sent_again = put_back(end);
    current_->pipeline().abandon();
    complete(std::move(report));
    return std::nullopt;
  }
  /// Asks the devices of the other pipeline, whose requests come back if it is lost as well.
  bool is_lost_too(StreamEpoch& epoch) const {
    std::optional<Error> found;
    if (!epoch.has_ended()) found = epoch.pipeline().find_loss(options_.patience);
    if (!epoch.has_ended() && !found) return false;
    epoch.break_off();
    // One that had nothing to answer did not notice.
    EpochEnd& end = epoch.end();
    if (!end.loss) end.loss = std::move(found);
    return end.loss.has_value();
  }
  Error lose_both(EpochEnd& old, EpochEnd& young) {
    again_ = put_back(old) + put_back(young);
    Error loss = *old.loss;
    next_->pipeline().abandon();
    next_.reset();
    stay({loss.code, "both pipelines were lost before the change was complete: " + loss.message});
    return loss;
  }
  /// Ends the pipeline before, which has nothing to answer.
  void complete(SwitchReport report) {
    report.opening = change_->opening();
    report.latency = next_->first_latency();
    const OrderedResults::Rhythm rhythm = results_.end_gap();
    report.gap = rhythm.gap;
    report.period = rhythm.period;
    if (current_) {
      current_->taker().cancel();
      current_->end();
    }
    current_ = std::move(next_);
    current_->watch_closely(false);
    own_opener_ = std::move(request_.opener);
    opener_ = own_opener_.get();
    stream_ = request_.stream;
    change_.reset();
    opener_->release_unused();
    backlog_.bound(most_ahead(stream_.window));
    observer_.switched(current_->pipeline(), report);
    options_.desk->answer(std::move(report));
  }
  /// Refuses the change.
  void stay(Error why) {
    static_cast<void>(results_.end_gap());
    change_.reset();
    request_ = {};
    opener_->release_unused();
    observer_.stayed(why);
    options_.desk->answer(tl::unexpected(std::move(why)));
  }
  /// Ends a change that is under way, whose stream has ended. `at_once`: nobody needs its devices.
  void drop_change(const Error& why, bool at_once) {
    if (!change_) return;
    if (at_once) change_->opener().hurry();
    {
      const Hurry hurry(change_->opener(), options_.stop);
      static_cast<void>(change_->take_pipeline());
    }
    stay(why);
  }
  Expected<> finish() {
    drop_change({ErrorCode::kClosed, "the requests have ended"}, false);
    return {};
  }

  /// Returns how many go on waiting: they are sent again.
  std::size_t put_back(EpochEnd& end) {
    std::vector<StreamRequest> again;
    for (StreamRequest& request : end.unanswered) {
      ++request.pipelines;
      if (!end.own_time) ++request.suspected;
      const bool is_cause = end.own_time && &request == &end.unanswered.front();
      if (is_cause || request.suspected >= kMostPipelines) {
        fail_one(request, *end.loss, true);
      } else {
        request.alone = request.suspected >= kMostPipelines - 1;
        again.push_back(std::move(request));
      }
    }
    const std::size_t count = again.size();
    backlog_.put_back(std::move(again));
    return count;
  }

  /// Returns whether there is a pipeline again. `loss`: why not, then.
  bool recover(Error& loss) {
    const TimePoint lost = std::chrono::steady_clock::now();
    const Nanoseconds patience = is_stopped(options_.stop) ? Nanoseconds(0) : options_.retry;
    // Before its end, which those of its devices that are left may delay.
    observer_.lost(loss, patience);
    current_->pipeline().abandon();
    const bool adopted = patience > Nanoseconds(0) && adopt(loss);
    if (!adopted) {
      end_pipeline();
      if (patience <= Nanoseconds(0) || !reopen(loss, lost + patience)) {
        drop_change(loss, true);
        return false;
      }
    }
    observer_.opened(current_->pipeline(), std::chrono::steady_clock::now() - lost, again_);
    backlog_.give_to(current_->taker());
    return true;
  }
  /// Takes the pipeline of a change in place of the one that is lost, if it is open and well. One
  /// that is still being opened is not waited for: it goes on next to what is done now.
  bool adopt(const Error& loss) {
    if (!change_ || !change_->has_opened()) return false;
    auto pipeline = change_->take_pipeline();
    if (!pipeline) {
      stay(std::move(pipeline).error());
      return false;
    }
    if (auto lost_too = (*pipeline)->find_loss(options_.patience)) {
      (*pipeline)->abandon();
      pipeline->reset();
      stay(*std::move(lost_too));
      return false;
    }
    request_ = change_->take_request();
    stream_ = request_.stream;
    next_ = epoch_of(*std::move(pipeline));
    SwitchReport report;
    report.lost = loss;
    report.sent_again = again_;
    complete(std::move(report));
    return true;
  }
  void end_pipeline() {
    const Hurry hurry(*opener_, options_.stop);
    current_.reset();
  }

  /// Returns whether a pipeline is open again before the deadline and before somebody wants to
  /// stop. `loss`: why not, then.
  bool reopen(Error& loss, TimePoint deadline) {
    Nanoseconds pause = options_.first_pause;
    std::optional<Error> last;
    bool stopped = false;
    for (;;) {
      const Nanoseconds left = deadline - std::chrono::steady_clock::now();
      if (left <= Nanoseconds(0)) break;
      const Woken woken = wait_for_stop(options_.stop, change_opened_.get(), std::min(pause, left));
      stopped = woken == Woken::kStop;
      if (stopped) break;
      std::uint64_t opened_since = 0;
      static_cast<void>(!::read(change_opened_.get(), &opened_since, sizeof opened_since));
      if (adopt(loss)) return true;
      if (woken == Woken::kWake) continue;
      auto opened = open();
      // The opener was hurried: its error says nothing of the devices, nor does a pipeline last.
      stopped = is_stopped(options_.stop);
      if (stopped) break;
      if (opened) {
        current_ = epoch_of(*std::move(opened));
        return true;
      }
      last = std::move(opened).error();
      pause = std::min(2 * pause, kLongestPause);
    }
    loss.message = given_up_text(loss.message, last, stopped, options_.retry);
    return false;
  }

  Expected<> give_up(Error loss) {
    for (StreamRequest& request : backlog_.close()) fail_one(request, loss, request.pipelines > 0);
    return tl::unexpected(std::move(loss));
  }

  void fail_one(StreamRequest& request, const Error& loss, bool sent) {
    StreamResult result;
    result.number = request.number;
    result.place = request.place;
    result.name = std::move(request.name);
    result.outputs = tl::unexpected(loss);
    result.sent = sent;
    results_.done(std::move(result));
    backlog_.deliver(results_.delivered());
  }

  PipelineOpener* opener_;
  std::unique_ptr<PipelineOpener> own_opener_;  ///< opener of a change, once it is complete
  const LastingOptions& options_;
  StreamOptions stream_;
  Happenings happenings_;
  const FileDescriptor change_opened_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  OrderedResults results_;
  StreamObserver& observer_;
  RequestBacklog backlog_;
  std::unique_ptr<StreamEpoch> current_;
  std::size_t again_ = 0;                   ///< requests that the next pipeline gets once more
  std::unique_ptr<PipelineSwitch> change_;  ///< null: none is under way
  SwitchRequest request_;                   ///< what was asked for, once its pipeline is open
  TimePoint handed_over_{};                 ///< when requests began to go to the next pipeline
  std::unique_ptr<StreamEpoch> next_;       ///< null: its pipeline is not open
};

}  // namespace

Expected<> run_lasting_stream(PipelineOpener& opener, const LastingOptions& options,
                              RequestSource& requests, RequestSink& results,
                              StreamObserver& observer) {
  return LastingStream(opener, options, requests, results, observer).run();
}

}  // namespace pareto::load
