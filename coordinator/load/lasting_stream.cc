#include "coordinator/load/lasting_stream.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/load/request_backlog.h"
#include "core/base/file_descriptor.h"

namespace pareto::load {
namespace {

/// The number of pipelines with which a request is lost before it counts as what breaks them. It
/// has the last of these to itself.
constexpr int kMostPipelines = 3;
constexpr Nanoseconds kLongestPause = std::chrono::seconds(2);
/// The longest time that a pipeline takes to end, or to be opened.
constexpr Nanoseconds kLongestCall = std::chrono::hours(1);
/// Against the slowest answer of a device.
constexpr int kPatienceRatio = 20;
/// Results that come so soon after a question may have left the device before it hung.
constexpr Nanoseconds kOnTheirWay = std::chrono::seconds(1);

/// Waits until `stop` is readable, or `wake` (-1: neither ever is), or the time has passed.
enum class Woken { kTime, kStop, kWake };
Woken wait(int stop, int wake, Nanoseconds time) {
  const TimePoint end = std::chrono::steady_clock::now() + time;
  std::array<pollfd, 2> waiting{{{stop, POLLIN, 0}, {wake, POLLIN, 0}}};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max<Nanoseconds>(end - std::chrono::steady_clock::now(), Nanoseconds(0)));
    const auto most = std::int64_t{std::numeric_limits<int>::max()};
    const int ready = ::poll(waiting.data(), waiting.size(),
                             static_cast<int>(std::min<std::int64_t>(left.count(), most)));
    if (ready < 0 && errno == EINTR) continue;
    if (waiting[1].revents != 0) return Woken::kWake;
    return waiting[0].revents != 0 ? Woken::kStop : Woken::kTime;
  }
}

/// Leaves out the name that a sentence begins with ("pi-1: no answer") if `loss` says it of a
/// stage.
std::string without_name_in(const std::string& loss, const std::string& sentence) {
  const std::size_t end = sentence.find(": ");
  if (end == std::string::npos) return sentence;
  const std::string name = sentence.substr(0, end + 2);
  return loss.find(" on " + name) == std::string::npos ? sentence : sentence.substr(end + 2);
}

bool is_stopped(int stop) { return wait(stop, -1, Nanoseconds(0)) == Woken::kStop; }

/// Notes when the last result passed on its way to another sink. Threads: as RequestSink; last()
/// from any.
class DatedResults final : public RequestSink {
 public:
  explicit DatedResults(RequestSink& results) : results_(results) {}
  void done(StreamResult result) override {
    last_ = std::chrono::steady_clock::now();
    results_.done(std::move(result));
  }
  TimePoint last() const { return last_; }

 private:
  RequestSink& results_;
  std::atomic<TimePoint> last_{TimePoint::min()};
};

/// Asks the devices of a pipeline again and again, and ends the stream through it when one is lost.
///
/// Threads: one owner; one of its own until then.
class Watch {
 public:
  Watch(StreamPipeline& pipeline, RequestBacklog& backlog, const DatedResults& results,
        const LastingOptions& options)
      : pipeline_(pipeline),
        backlog_(backlog),
        results_(results),
        options_(options),
        wake_(::eventfd(0, EFD_CLOEXEC)),
        watching_([this] { watch(); }) {}

  /// Ends the watching; what was lost, if anything was. A second call returns nothing.
  std::optional<Error> end() {
    const std::uint64_t once = 1;
    static_cast<void>(!::write(wake_.get(), &once, sizeof once));
    if (watching_.joinable()) watching_.join();
    return std::exchange(loss_, std::nullopt);
  }

 private:
  void watch() {
    bool stopped = false;
    for (;;) {
      // After a request to stop the next question is asked at once.
      const Woken woken = wait(stopped ? -1 : options_.stop, wake_.get(), options_.watch_every);
      if (woken == Woken::kWake) return;
      stopped = stopped || woken == Woken::kStop;
      if (!ask(stopped)) continue;
      backlog_.cancel();
      pipeline_.source().close();
      pipeline_.sink().close();
      return;
    }
  }

  /// Asks the devices. True: something is lost.
  bool ask(bool stopped) {
    const std::chrono::milliseconds least = stopped ? options_.last_patience : options_.patience;
    const TimePoint asked = std::chrono::steady_clock::now();
    loss_ = pipeline_.find_loss(std::max(
        least, std::chrono::ceil<std::chrono::milliseconds>(kPatienceRatio * slowest_answer_)));
    const Nanoseconds took = std::chrono::steady_clock::now() - asked;
    if (!loss_) slowest_answer_ = std::max(slowest_answer_, took);
    // A device that is too busy to answer is not lost as long as its results come.
    const bool works = results_.last() > asked + kOnTheirWay;
    if (loss_ && loss_->code == ErrorCode::kTimeout && works) loss_.reset();
    return loss_.has_value();
  }

  StreamPipeline& pipeline_;
  RequestBacklog& backlog_;
  const DatedResults& results_;
  const LastingOptions& options_;
  const FileDescriptor wake_;
  Nanoseconds slowest_answer_{};
  std::optional<Error> loss_;
  std::jthread watching_;  // last: it uses all of the above
};

/// Hurries what the opener does as soon as somebody wants to stop. Threads: one owner; one of its
/// own.
class Hurry {
 public:
  Hurry(PipelineOpener& opener, int stop)
      : done_(::eventfd(0, EFD_CLOEXEC)), waiting_([this, &opener, stop] {
          if (wait(stop, done_.get(), kLongestCall) == Woken::kStop) opener.hurry();
        }) {}
  ~Hurry() {
    const std::uint64_t once = 1;
    static_cast<void>(!::write(done_.get(), &once, sizeof once));
  }
  Hurry(const Hurry&) = delete;
  Hurry& operator=(const Hurry&) = delete;

 private:
  const FileDescriptor done_;
  const std::jthread waiting_;  // last: it uses the other, and is joined first
};

/// Threads: one owner.
class LastingStream {
 public:
  LastingStream(PipelineOpener& opener, const LastingOptions& options, RequestSource& requests,
                RequestSink& results, StreamObserver& observer)
      : opener_(opener),
        options_(options),
        results_(results),
        observer_(observer),
        backlog_(requests) {}

  Expected<> run() {
    PARETO_ASSIGN(pipeline_, open());
    observer_.opened(*pipeline_, std::nullopt, 0);
    for (;;) {
      std::optional<Error> loss = stream();
      if (!loss) return {};
      const TimePoint lost = std::chrono::steady_clock::now();
      const Nanoseconds patience = is_stopped(options_.stop) ? Nanoseconds(0) : options_.retry;
      // Before its end, which those of its devices that are left may delay.
      observer_.lost(*loss, patience);
      end_pipeline();
      if (!reopen(*loss, lost + patience)) return give_up(*std::move(loss));
      backlog_.resume();
      observer_.opened(*pipeline_, std::chrono::steady_clock::now() - lost, again_);
    }
  }

 private:
  /// Streams until the requests end or the pipeline is lost: why, or nothing.
  std::optional<Error> stream() {
    Watch watch(*pipeline_, backlog_, results_, options_);
    std::optional<Error> loss;
    std::string where;  // the request waits whose own time ran out
    bool own_time = false;
    StreamOptions options = options_.stream;
    options.on_break = [&](const Error& broken) {
      loss = watch.end();
      // Links say that they broke; devices say why.
      if (!loss) loss = pipeline_->find_loss(options_.patience);
      own_time = !loss && broken.code == ErrorCode::kTimeout;
      if (own_time) where = pipeline_->where_requests_wait(options_.patience);
    };
    StreamEnd end = run_stream(pipeline_->source(), pipeline_->sink(), pipeline_->number(), options,
                               backlog_, results_);
    if (!loss) loss = watch.end();
    if (!end.broken && !loss) return std::nullopt;
    if (!loss) {
      loss = *std::move(end.broken);
      loss->message += where;
    }
    put_back(std::move(end.unanswered), *loss, own_time);
    return loss;
  }

  /// Devices may take long to open their stages, and to close them: somebody who wants to stop does
  /// not wait.
  Expected<std::unique_ptr<StreamPipeline>> open() {
    const Hurry hurry(opener_, options_.stop);
    return opener_.open();
  }
  void end_pipeline() {
    pipeline_->abandon();
    const Hurry hurry(opener_, options_.stop);
    pipeline_.reset();
  }

  /// `own_time`: the first one's time ran out, and no device is to blame.
  void put_back(std::vector<StreamRequest> unanswered, const Error& loss, bool own_time) {
    std::vector<StreamRequest> again;
    for (StreamRequest& request : unanswered) {
      ++request.pipelines;
      if (!own_time) ++request.suspected;
      const bool is_cause = own_time && &request == &unanswered.front();
      if (is_cause || request.suspected >= kMostPipelines) {
        fail_one(request, loss, true);
      } else {
        request.alone = request.suspected >= kMostPipelines - 1;
        again.push_back(std::move(request));
      }
    }
    again_ = again.size();
    backlog_.put_back(std::move(again));
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
      stopped = wait(options_.stop, -1, std::min(pause, left)) == Woken::kStop;
      if (stopped) break;
      auto opened = open();
      // The opener was hurried: its error says nothing of the devices, nor does a pipeline last.
      stopped = is_stopped(options_.stop);
      if (stopped) break;
      if (opened) {
        pipeline_ = *std::move(opened);
        return true;
      }
      last = std::move(opened).error();
      pause = std::min(2 * pause, kLongestPause);
    }
    if (stopped) loss.message += "; stopped while it was waited for";
    if (!last) return false;
    const std::string still = without_name_in(loss.message, last->message);
    loss.message +=
        stopped ? fmt::format(" ({})", still)
                : fmt::format("; not back within {:g} s: {}", to_seconds(options_.retry), still);
    return false;
  }

  Expected<> give_up(Error loss) {
    for (StreamRequest& request : backlog_.close()) fail_one(request, loss, request.pipelines > 0);
    return tl::unexpected(std::move(loss));
  }

  void fail_one(StreamRequest& request, const Error& loss, bool sent) {
    StreamResult result;
    result.number = request.number;
    result.name = std::move(request.name);
    result.outputs = tl::unexpected(loss);
    result.sent = sent;
    results_.done(std::move(result));
  }

  PipelineOpener& opener_;
  const LastingOptions& options_;
  DatedResults results_;
  StreamObserver& observer_;
  RequestBacklog backlog_;
  std::unique_ptr<StreamPipeline> pipeline_;
  std::size_t again_ = 0;  ///< requests that the next pipeline gets once more
};

}  // namespace

Expected<> run_lasting_stream(PipelineOpener& opener, const LastingOptions& options,
                              RequestSource& requests, RequestSink& results,
                              StreamObserver& observer) {
  return LastingStream(opener, options, requests, results, observer).run();
}

}  // namespace pareto::load
