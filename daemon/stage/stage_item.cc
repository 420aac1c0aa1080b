#include "daemon/stage/stage_item.h"

#include <algorithm>
#include <utility>

namespace pareto::daemon {

StageItem item_of(transport::Received received, std::uint32_t stage) {
  // A frame whose tensors travelled by a codec holds less than they do.
  const std::uint64_t bytes = std::max(received.wire_bytes, tensor_bytes(received.message.body));
  StageItem item{std::move(received.message),
                 {},
                 received.arrived + received.receive + received.decode,
                 bytes};
  if (item.message.time_left > Nanoseconds(0)) {
    item.deadline = received.arrived + item.message.time_left;
  }
  item.times.stage = stage;
  item.times.arrived = received.arrived.time_since_epoch();
  item.times.receive = received.receive;
  item.times.decode = received.decode;
  item.times.receive_cpu = received.cpu;
  return item;
}

}  // namespace pareto::daemon
