#include "core/transport/frame_arrival.h"

#include "core/base/cpu_time.h"

namespace pareto::transport {

void FrameArrival::begin() {
  first_byte_ = std::chrono::steady_clock::now();
  first_byte_cpu_ = thread_cpu_time();
  thread_ = std::this_thread::get_id();
}

Received FrameArrival::take(wire::FrameDecoder& decoder) const {
  Received received;
  received.wire_bytes = decoder.received_bytes();
  received.message = decoder.take();
  received.arrived = first_byte_;
  received.decode = decoder.decoding();
  received.receive = std::chrono::steady_clock::now() - first_byte_ - received.decode;
  if (thread_ == std::this_thread::get_id()) received.cpu = thread_cpu_time() - first_byte_cpu_;
  return received;
}

}  // namespace pareto::transport
