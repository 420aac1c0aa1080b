// A lasting stream over pipelines that the test loses, gives back and changes.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/base/file_descriptor.h"
#include "tests/coordinator/load/scripted_pipelines.h"

namespace pareto::load {

/// It is the source of requests, the sink of results and the observer of one stream.
class LastingStreamTest : public testing::Test,
                          public RequestSource,
                          public RequestSink,
                          public StreamObserver {
 protected:
  LastingStreamTest() {
    options_.stream.window = 4;
    options_.stream.request_timeout = std::chrono::seconds(60);
    options_.retry = std::chrono::seconds(60);
    options_.watch_every = std::chrono::milliseconds(2);
    options_.patience = std::chrono::milliseconds(200);
    options_.first_pause = std::chrono::milliseconds(1);
    options_.idle = std::chrono::seconds(60);
    options_.stop = stop_.get();
  }

  std::optional<StreamRequest> next() override {
    if (cancelled_ || enough_ || given_ == requests_) {
      if (on_exhausted_) on_exhausted_();
      return std::nullopt;
    }
    if (on_next_) on_next_(given_);
    if (cancelled_) return std::nullopt;
    StreamRequest request;
    request.body = Value(Tuple{{Value(static_cast<std::int64_t>(given_))}});
    request.number = given_;
    request.name = "r" + std::to_string(given_++);
    return request;
  }
  void cancel() override { cancelled_ = true; }
  void done(StreamResult result) override {
    names_.push_back(result.name);
    if (result.sent_again > 0) last_again_ = result;
    if (result.outputs) return;
    (result.sent ? failed_ : not_sent_)
        .push_back(result.name + ": " + result.outputs.error().message);
  }
  void opened(StreamPipeline&, std::optional<Nanoseconds> after, std::size_t again) override {
    events_.push_back(after ? "again" : "open");
    sent_again_ += again;
    if (on_opened_) on_opened_();
  }
  void lost(const Error& error, Nanoseconds waits) override {
    events_.push_back("lost: " + error.message);
    if (on_lost_) on_lost_();
    waited_ = waits;
  }

  void switched(StreamPipeline&, const SwitchReport& report) override {
    events_.push_back(report.lost ? "switched, lost: " + report.lost->message : "switched");
    reports_.push_back(report);
  }
  void stayed(const Error& why) override { events_.push_back("stayed: " + why.message); }

  void stop() const {
    const std::uint64_t once = 1;
    static_cast<void>(!::write(stop_.get(), &once, sizeof once));
  }
  Expected<> run(std::size_t requests) {
    requests_ = requests;
    return run_lasting_stream(opener_, options_, *this, *this, *this);
  }
  /// Expects that each was reported once, in order.
  void expect_all(std::size_t requests) const {
    ASSERT_EQ(names_.size(), requests);
    for (std::size_t i = 0; i < requests; ++i) EXPECT_EQ(names_[i], "r" + std::to_string(i));
  }

  LastingOptions options_;
  ScriptedOpener opener_;
  FileDescriptor stop_{::eventfd(0, EFD_CLOEXEC)};
  std::size_t requests_ = 0;
  std::atomic<std::size_t> given_{0};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> enough_{false};  ///< the source ends
  std::function<void(std::size_t)> on_next_;
  std::function<void()> on_exhausted_;
  std::function<void()> on_opened_;
  std::function<void()> on_lost_;
  std::vector<std::string> names_;
  std::vector<std::string> failed_;
  std::vector<std::string> not_sent_;
  std::vector<std::string> events_;
  std::vector<SwitchReport> reports_;
  Nanoseconds waited_{};
  std::size_t sent_again_ = 0;
  StreamResult last_again_;  ///< result of the last request that a pipeline was lost with
};

}  // namespace pareto::load
