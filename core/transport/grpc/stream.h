// One bidirectional gRPC call, as calls that block. Internal to core/transport/grpc.
//
//   link's threads: write, read, close        gRPC's threads: on_read, on_write, on_done
//                          └── state under one mutex, and pump(), which starts work ──┘
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::transport::grpc {

/// The state that a client's and a server's reactor share. At most one gRPC write and one read are
/// under way; chunks read ahead of read() are bounded.
///
/// Lives until gRPC has let go of it and the link has too: between start() and on_done() it owns
/// itself. Threads: any; write() by one at a time, read() by one at a time.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(std::uint64_t read_ahead_bytes) : read_ahead_bytes_(read_ahead_bytes) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Hands over the chunks of one frame and waits until gRPC has taken them. Fails: kClosed,
  /// kUnavailable, kTimeout; after a timeout the stream is closed, for a part may be on its way.
  Expected<> write(std::deque<::grpc::ByteBuffer> chunks, Deadline deadline);
  /// Returns the next chunk. Fails: kClosed, kUnavailable, kTimeout.
  Expected<::grpc::ByteBuffer> read(Deadline deadline);
  /// Returns how many bytes have come, read or not.
  std::uint64_t received_bytes() {
    const std::lock_guard lock(mutex_);
    return received_bytes_;
  }
  /// Wakes write() and read() with kClosed. What was written still arrives. Never blocks.
  void close();
  /// Waits until the call has ended, and ends it by force when `linger` has passed.
  void wait_until_done(Nanoseconds linger);

 protected:
  // To be called by a reactor's reactions.
  void on_read(bool ok);
  void on_write(bool ok);
  void on_done(const ::grpc::Status& status);
  /// Keeps this alive until on_done(), and starts reading.
  void start();
  /// Waits until `ready` holds or the call has ended; false at the deadline. With the mutex held.
  template <typename Ready>
  bool wait(std::unique_lock<std::mutex>& lock, Deadline deadline, Ready ready);

  // The derived class starts these operations. They are called with the mutex held.
  virtual void start_read(::grpc::ByteBuffer* into) = 0;
  virtual void start_write(const ::grpc::ByteBuffer* chunk) = 0;
  /// Reports that nothing will be written any more. `peer_ended`: nor will anything be read.
  virtual void finish_writing(bool peer_ended) = 0;
  /// Reports that nothing will be started any more.
  virtual void let_go() {}
  virtual void cancel() = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  ::grpc::Status status_;  // of the call, once done_

 private:
  void pump();
  tl::unexpected<Error> ended() const;

  const std::uint64_t read_ahead_bytes_;
  std::shared_ptr<Stream> self_;
  bool closed_ = false;  // on this side

  ::grpc::ByteBuffer incoming_;
  bool reading_ = false;
  bool read_ended_ = false;
  std::deque<::grpc::ByteBuffer> inbox_;
  std::uint64_t inbox_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;

  ::grpc::ByteBuffer outgoing_;
  bool writing_ = false;
  bool write_failed_ = false;
  std::deque<::grpc::ByteBuffer> outbox_;

  bool finished_ = false;
  bool let_go_ = false;
};

template <typename Ready>
bool Stream::wait(std::unique_lock<std::mutex>& lock, Deadline deadline, Ready ready) {
  if (deadline) return changed_.wait_until(lock, *deadline, ready);
  changed_.wait(lock, ready);
  return true;
}

}  // namespace pareto::transport::grpc
