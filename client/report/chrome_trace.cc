#include "client/report/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/report/trace_events.h"
#include "coordinator/results/record_json.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;

/// A thread of ours or of a device: one thing after the other.
class Thread {
 public:
  Thread(Events& events, Track track, const std::string& name) : track_(track) {
    events.name_thread(track, name);
  }
  Track track() const { return track_; }
  /// Places something that began at `start` at the earliest.
  Span place(double start, Nanoseconds duration) {
    const Span span{std::max(start, busy_until_), microseconds(duration)};
    busy_until_ = span.end();
    return span;
  }

 private:
  Track track_;
  double busy_until_ = -std::numeric_limits<double>::infinity();
};

/// Rows of the drawing, as many as things go on at once.
class Rows {
 public:
  Rows(Events& events, Track first, std::string name)
      : events_(&events), first_(first), name_(std::move(name)) {}
  Track row_for(Span span) {
    std::size_t row = 0;
    while (row < busy_until_.size() && busy_until_[row] > span.start) ++row;
    const Track track{first_.process, first_.thread + static_cast<int>(row)};
    if (row == busy_until_.size()) {
      busy_until_.push_back(0);
      events_->name_thread(track, name_);
    }
    busy_until_[row] = span.end();
    return track;
  }

 private:
  Events* events_;
  Track first_;
  std::string name_;
  std::vector<double> busy_until_;
};

// Rows of one thing stay together.
constexpr int kRows = 10'000;

struct StageRows {
  Thread receive;
  Thread compute;
  Thread send;
  Rows queue;
};

/// Walks the requests in order, each from source to sink.
class Picture {
 public:
  explicit Picture(const load::PipelineTrace& trace)
      : trace_(trace),
        source_(events_, {kCoordinator, 1}, "source"),
        sink_(events_, {kCoordinator, 2}, "sink"),
        requests_(events_, {kCoordinator, kRows}, "request") {
    events_.name_process(kCoordinator, "coordinator");
    std::map<std::string, int> processes;
    const int links = static_cast<int>(trace.clocks.size()) + 1;
    for (std::size_t i = 0; i < trace.stages.size(); ++i) {
      const std::string& device = trace.stages[i].device;
      const auto [found, is_new] =
          processes.emplace(device, static_cast<int>(processes.size()) + 1);
      if (is_new) events_.name_process(found->second, device);
      const int process = found->second;
      const int row = static_cast<int>(i) * 2 * kRows;
      const auto name = [&](const char* what) { return fmt::format("stage {} {}", i, what); };
      stages_.push_back({Thread(events_, {process, row + 1}, name("receive")),
                         Thread(events_, {process, row + 2}, name("compute")),
                         Thread(events_, {process, row + 3}, name("send")),
                         Rows(events_, {process, row + kRows}, name("queue"))});
    }
    events_.name_process(links, "links");
    for (std::size_t i = 0; i <= stages_.size(); ++i) {
      const auto end = [&](bool is_stage, std::size_t stage, const char* other) {
        return is_stage ? fmt::format("stage {}", stage) : other;
      };
      wires_.emplace_back(
          events_, Track{links, static_cast<int>(i) * kRows + 1},
          end(i > 0, i - 1, "source") + " to " + end(i < stages_.size(), i, "sink"));
    }
  }

  Json draw() {
    const auto& samples = trace_.load.samples;
    for (std::size_t n = 0; n < samples.size(); ++n) {
      draw(samples[n], n + 1 < samples.size() ? &samples[n + 1].timeline : nullptr);
    }
    return events_.take();
  }

 private:
  static constexpr int kCoordinator = 0;

  /// Returns the device's time as ours. Points that uptimes make large are subtracted before they
  /// lose their last digits.
  double ours(const std::string& device, Nanoseconds time) const {
    return microseconds(time - trace_.load.began.time_since_epoch()) -
           microseconds(trace_.clocks.at(device).offset);
  }

  double error_of(std::size_t stage) const {
    return microseconds(trace_.clocks.at(trace_.stages[stage].device).error);
  }

  void draw(const load::RequestSample& sample, const wire::Timeline* next) {
    const std::uint64_t request = sample.request;
    const Span whole{microseconds(sample.sent), microseconds(sample.latency())};
    events_.complete("request", requests_.row_for(whole), whole, {{"request", request}});

    const transport::Sent& source = sample.source;
    const Span encode = source_.place(whole.start, source.encode);
    events_.complete("encode", source_.track(), encode, {{"request", request}});
    events_.arrow("request", "s", source_.track(), encode.start, request);
    const Span send = source_.place(encode.end(), source.send);
    events_.complete("send", source_.track(), send,
                     sent_args(request, source.cpu, source.wire_bytes));

    std::optional<double> left = send.start;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      left = draw_stage(i, request, sample.timeline[i], next ? &(*next)[i] : nullptr, left);
    }

    const load::SinkTimes& sink = sample.sink;
    const Span receive = sink_.place(microseconds(sink.arrived), sink.receive);
    if (left) draw_wire(stages_.size(), request, *left, receive);
    events_.complete("receive", sink_.track(), receive,
                     sent_args(request, sink.cpu, sink.wire_bytes));
    events_.arrow("request", "f", sink_.track(), receive.start, request);
    events_.complete("decode", sink_.track(), sink_.place(receive.end(), sink.decode),
                     {{"request", request}});
  }

  /// Returns when it began to send the request on, where that is known.
  std::optional<double> draw_stage(std::size_t i, std::uint64_t request,
                                   const wire::StageTimes& times, const wire::StageTimes* next,
                                   std::optional<double> left) {
    StageRows& stage = stages_[i];
    const load::TracedStage& traced = trace_.stages[i];
    const Span receive = stage.receive.place(ours(traced.device, times.arrived), times.receive);
    if (left) draw_wire(i, request, *left, receive);
    events_.complete("receive", stage.receive.track(), receive,
                     {{"request", request},
                      {"tensor_bytes", traced.input_bytes},
                      {"cpu_us", rounded_us(microseconds(times.receive_cpu))}});
    const Span decode = stage.receive.place(receive.end(), times.decode);
    events_.complete("decode", stage.receive.track(), decode, {{"request", request}});

    const Span queue{decode.end(), microseconds(times.queue)};
    events_.complete("queue", stage.queue.row_for(queue), queue, {{"request", request}});
    const Span compute = stage.compute.place(queue.end(), times.compute);
    events_.complete(
        "compute", stage.compute.track(), compute,
        {{"request", request}, {"cpu_us", rounded_us(microseconds(times.compute_cpu))}});
    events_.arrow("request", "t", stage.compute.track(), compute.start, request);

    if (next == nullptr) return std::nullopt;
    const Span encode = stage.send.place(compute.end(), next->encode);
    events_.complete("encode", stage.send.track(), encode, {{"request", request}});
    const Span send = stage.send.place(encode.end(), next->send);
    events_.complete("send", stage.send.track(), send,
                     {{"request", request}, {"cpu_us", rounded_us(microseconds(next->send_cpu))}});
    return send.start;
  }

  void draw_wire(std::size_t link, std::uint64_t request, double left, Span receive) {
    const double error =
        (link > 0 ? error_of(link - 1) : 0) + (link < stages_.size() ? error_of(link) : 0);
    const Span wire{left, std::max(receive.end() - left, 0.0)};
    events_.complete("wire", wires_[link].row_for(wire), wire,
                     {{"request", request},
                      {"first_byte_us", rounded_us(receive.start - left)},
                      {"clock_error_us", rounded_us(error)}});
  }

  static Json sent_args(std::uint64_t request, Nanoseconds cpu, std::uint64_t bytes) {
    return {
        {"request", request}, {"frame_bytes", bytes}, {"cpu_us", rounded_us(microseconds(cpu))}};
  }

  const load::PipelineTrace& trace_;
  Events events_;
  Thread source_;
  Thread sink_;
  Rows requests_;
  std::vector<StageRows> stages_;
  std::vector<Rows> wires_;
};

Json other_data(const load::PipelineTrace& trace) {
  Json clocks = Json::array();
  for (const auto& [device, clock] : trace.clocks) {
    clocks.push_back({{"device", device},
                      {"offset_us", rounded_us(microseconds(clock.offset))},
                      {"error_us", rounded_us(microseconds(clock.error))}});
  }
  return {{"software", "paretoctl " PARETO_VERSION},
          {"model", trace.plan.model},
          {"splits", trace.plan.splits},
          {"transport", trace.plan.transport_text()},
          {"batch", trace.plan.batch},
          {"window", trace.plan.window},
          {"requests", trace.load.samples.size()},
          {"clocks", std::move(clocks)}};
}

}  // namespace

std::string chrome_trace(const load::PipelineTrace& trace) {
  Json document;
  document["displayTimeUnit"] = "ms";
  document["otherData"] = other_data(trace);
  document["traceEvents"] = Picture(trace).draw();
  return dump(document) + "\n";
}

}  // namespace pareto::report
