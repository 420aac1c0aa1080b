#include "coordinator/load/stream_epoch.h"

#include <chrono>
#include <string>
#include <utility>

namespace pareto::load {

void StreamEpoch::Results::done(StreamResult result) {
  epoch_.last_result_ = std::chrono::steady_clock::now();
  const Nanoseconds latency = result.latency;
  if (epoch_.first_latency_.load() < Nanoseconds(0)) epoch_.first_latency_ = latency;
  epoch_.results_.done(std::move(result));
  epoch_.taker_.answer(epoch_.results_.delivered());
  if (epoch_.closely_) epoch_.changed_();
}

StreamEpoch::StreamEpoch(std::unique_ptr<StreamPipeline> pipeline, StreamOptions stream,
                         const WatchOptions& watch, RequestBacklog& backlog,
                         OrderedResults& results, std::function<void()> changed)
    : pipeline_(std::move(pipeline)),
      stream_(std::move(stream)),
      watch_(watch),
      results_(results),
      changed_(std::move(changed)),
      taker_(backlog),
      running_([this] { run(); }) {}

StreamEpoch::~StreamEpoch() {
  if (!running_.joinable()) return;
  break_off();
  running_.join();
}

std::optional<Nanoseconds> StreamEpoch::first_latency() const {
  const Nanoseconds latency = first_latency_;
  if (latency < Nanoseconds(0)) return std::nullopt;
  return latency;
}

void StreamEpoch::break_off() {
  taker_.cancel();
  pipeline_->source().close();
  pipeline_->sink().close();
}

EpochEnd& StreamEpoch::end() {
  if (running_.joinable()) running_.join();
  return end_;
}

void StreamEpoch::run() {
  {
    PipelineWatch watch(*pipeline_, last_result_, watch_, [this] { taker_.cancel(); });
    Results results(*this);
    std::string where;  // the request waits whose own time ran out
    bool broke = false;
    StreamOptions options = stream_;
    options.on_break = [&](const Error& broken) {
      broke = true;
      end_.loss = watch.found();
      // Links say that they broke; devices say why. A question that the watch has asked before may
      // wait for one that hangs.
      if (!end_.loss) end_.loss = pipeline_->find_loss(watch_.patience);
      end_.own_time = !end_.loss && broken.code == ErrorCode::kTimeout;
      if (end_.own_time) where = pipeline_->where_requests_wait(watch_.patience);
    };
    StreamEnd end = run_stream(pipeline_->source(), pipeline_->sink(), pipeline_->number(), options,
                               taker_, results);
    // Its devices are lost, so that no question waits for them.
    if (end_.loss) pipeline_->abandon();
    std::optional<Error> found = watch.end();
    // What the watch finds after the links broke may be a consequence.
    if (!end_.loss && !broke) end_.loss = std::move(found);
    if (!end_.loss && end.broken) {
      end_.loss = *std::move(end.broken);
      end_.loss->message += where;
    }
    end_.unanswered = std::move(end.unanswered);
  }
  ended_ = true;
  changed_();
}

}  // namespace pareto::load
