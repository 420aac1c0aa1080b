// Requests between where they come from and the pipelines that take them: one pipeline after the
// other, or two while one takes over from the other.
//
//   RequestSource ──(read when a taker asks)──▶ RequestBacklog ──next──▶ the taker whose turn it is
//                                                  ▲──put_back── requests of a lost pipeline
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "coordinator/load/request_stream.h"

namespace pareto::load {

class RequestTaker;

/// Reads a request only when a taker asks for one, so that none is accepted ahead of its time. Each
/// gets its place when it is read.
///
/// Threads: next() from a thread of each taker, close() from the owner while no pipeline runs, the
/// others from any. A thread of its own reads from the source.
class RequestBacklog {
 public:
  /// The source outlives it. At most `most` requests are given out before the result of the first
  /// of them is delivered, so that what waits for its turn is bounded.
  RequestBacklog(RequestSource& source, std::size_t most);
  /// Cancels the source.
  ~RequestBacklog();
  RequestBacklog(const RequestBacklog&) = delete;
  RequestBacklog& operator=(const RequestBacklog&) = delete;

  /// Changes that bound.
  void bound(std::size_t most);
  /// Makes it the turn of that taker; the one before waits for its next turn, or its end.
  void give_to(RequestTaker& taker);
  /// Puts requests before all others that wait, by their places.
  void put_back(std::vector<StreamRequest> requests);
  /// Says how many results were delivered in all. The answers of takers say so too.
  void deliver(std::uint64_t delivered);
  /// Ends the source, and takes what was accepted and has not been taken.
  std::vector<StreamRequest> close();

 private:
  friend class RequestTaker;

  std::optional<StreamRequest> next(RequestTaker& taker);
  void end(RequestTaker& taker);
  void answer(RequestTaker& taker, std::uint64_t delivered);
  void add(RequestTaker& taker);
  void remove(RequestTaker& taker);

  bool may_take(const RequestTaker& taker) const;
  bool has_ended_for(const RequestTaker& taker) const;
  void read();

  RequestSource& source_;
  std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  ///< wakes takers
  std::condition_variable asking_;   ///< wakes the reading thread
  std::deque<StreamRequest> waiting_;
  std::vector<RequestTaker*> takers_;
  RequestTaker* turn_ = nullptr;
  RequestTaker* alone_ = nullptr;  ///< its last request is not to be in flight with another
  std::uint64_t delivered_ = 0;    ///< results that were delivered: those of places below it
  std::uint64_t read_ = 0;         ///< requests that were read from the source
  bool asked_ = false;
  bool ended_ = false;  ///< the source has no more
  bool closing_ = false;
  std::jthread reading_;
};

/// One pipeline's share of the requests of a backlog, which outlives it.
///
/// Threads: next() from one; the others from any.
class RequestTaker final : public RequestSource {
 public:
  explicit RequestTaker(RequestBacklog& backlog);
  ~RequestTaker() override;
  RequestTaker(const RequestTaker&) = delete;
  RequestTaker& operator=(const RequestTaker&) = delete;

  /// Waits for the next request. Returns none after cancel(); or if the source has ended, it is the
  /// taker's turn and no other taker has a request that is not answered, which could come back.
  std::optional<StreamRequest> next() override;
  /// Wakes next(), which returns none from then on. A request that the source gives meanwhile is
  /// kept for another taker.
  void cancel() override;
  /// Counts one of its requests as answered. `delivered`: how many results were delivered in all.
  void answer(std::uint64_t delivered);

  struct Counts {
    std::uint64_t given = 0;
    std::uint64_t answered = 0;
    std::uint64_t unanswered() const { return given - answered; }
  };
  Counts counts() const;

 private:
  friend class RequestBacklog;

  RequestBacklog& backlog_;
  // Guarded by the backlog's mutex.
  Counts counts_;
  bool over_ = false;
};

}  // namespace pareto::load
