// Requests between where they come from and the pipelines that take them, one pipeline after the
// other.
//
//   RequestSource ──(read when a pipeline asks)──▶ RequestBacklog ──next──▶ pipeline
//                                                     ▲──put_back── requests of a lost pipeline
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "coordinator/load/request_stream.h"

namespace pareto::load {

/// Reads a request only when a pipeline asks for one, so that none is accepted ahead of its time.
///
/// Threads: next() from one, cancel() from any, the others from the owner while no pipeline runs. A
/// thread of its own reads from the source.
class RequestBacklog final : public RequestSource {
 public:
  /// The source outlives it.
  explicit RequestBacklog(RequestSource& source);
  /// Cancels the source.
  ~RequestBacklog() override;
  RequestBacklog(const RequestBacklog&) = delete;
  RequestBacklog& operator=(const RequestBacklog&) = delete;

  std::optional<StreamRequest> next() override;
  /// Wakes next(), which returns none until resume(). A request that the source gives meanwhile is
  /// kept.
  void cancel() override;
  /// Puts requests before all others, in their order.
  void put_back(std::vector<StreamRequest> requests);
  void resume();
  /// Ends the source, and takes what was accepted and has not been taken.
  std::vector<StreamRequest> close();

 private:
  void read();

  RequestSource& source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamRequest> waiting_;
  bool asked_ = false;
  bool cancelled_ = false;
  bool ended_ = false;  ///< the source has no more
  bool closing_ = false;
  std::jthread reading_;
};

}  // namespace pareto::load
