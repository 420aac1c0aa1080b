// Times at which a frame came that is read piece by piece. Links over streams of bytes report them
// in Received.
#pragma once

#include <thread>

#include "core/base/clock.h"
#include "core/transport/transport.h"
#include "core/wire/frame.h"

namespace pareto::transport {

/// A note of when a frame's first bytes came, from which the times of the whole frame are made.
///
/// Threads: the receiving one of a link. A frame that another one began to receive has no processor
/// time.
class FrameArrival {
 public:
  /// Notes that the first bytes of a frame are there. Call it before the decoder gets them.
  void begin();
  /// Takes the message out of the decoder, whose frame is complete.
  Received take(wire::FrameDecoder& decoder) const;

 private:
  TimePoint first_byte_{};
  Nanoseconds first_byte_cpu_{};  ///< the thread's processor time then
  std::thread::id thread_;
};

}  // namespace pareto::transport
