#include "coordinator/load/pipeline_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

namespace pareto::load {
namespace {

/// Against the slowest answer of a device.
constexpr int kPatienceRatio = 20;
/// Results that come so soon after a question may have left the device before it hung.
constexpr Nanoseconds kOnTheirWay = std::chrono::seconds(1);

}  // namespace

Woken wait_for_stop(int stop, int wake, Nanoseconds time) {
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

PipelineWatch::PipelineWatch(StreamPipeline& pipeline, const std::atomic<TimePoint>& last_result,
                             const WatchOptions& options, std::function<void()> on_loss)
    : pipeline_(pipeline),
      last_result_(last_result),
      options_(options),
      on_loss_(std::move(on_loss)),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      watching_([this] { watch(); }) {}

std::optional<Error> PipelineWatch::end() {
  const std::uint64_t once = 1;
  static_cast<void>(!::write(wake_.get(), &once, sizeof once));
  if (watching_.joinable()) watching_.join();
  return found();
}

std::optional<Error> PipelineWatch::found() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void PipelineWatch::watch() {
  bool stopped = false;
  for (;;) {
    // After a request to stop the next question is asked at once.
    const Woken woken =
        wait_for_stop(stopped ? -1 : options_.stop, wake_.get(), options_.watch_every);
    if (woken == Woken::kWake) return;
    stopped = stopped || woken == Woken::kStop;
    if (!ask(stopped)) continue;
    on_loss_();
    pipeline_.source().close();
    pipeline_.sink().close();
    return;
  }
}

bool PipelineWatch::ask(bool stopped) {
  const std::chrono::milliseconds least = stopped ? options_.last_patience : options_.patience;
  const TimePoint asked = std::chrono::steady_clock::now();
  std::optional<Error> loss = pipeline_.find_loss(std::max(
      least, std::chrono::ceil<std::chrono::milliseconds>(kPatienceRatio * slowest_answer_)));
  const Nanoseconds took = std::chrono::steady_clock::now() - asked;
  if (!loss) slowest_answer_ = std::max(slowest_answer_, took);
  // A device that is too busy to answer is not lost as long as its results come.
  const bool works = last_result_.load() > asked + kOnTheirWay;
  if (loss && loss->code == ErrorCode::kTimeout && works) loss.reset();
  const std::lock_guard lock(mutex_);
  loss_ = std::move(loss);
  return loss_.has_value();
}

}  // namespace pareto::load
