#include "coordinator/cluster/fault_server.h"

#include <array>
#include <optional>

#include "coordinator/cluster/fault_wire.h"
#include "coordinator/cluster/line_channel.h"
#include "core/base/poll.h"

namespace pareto::cluster {
namespace {

/// Time that a line may take which has begun to come.
constexpr std::chrono::seconds kLinePatience{5};

Expected<std::string> carry_out(const std::string& line, TestbedFaults& faults) {
  PARETO_ASSIGN(const FaultRequest request, parse_fault_request(line));
  if (!request.begins) return faults.end(request.number);
  return faults.begin(request.number, *request.begins);
}

/// Answers the lines that have come. Returns whether the peer is there still.
bool answer(LineChannel& peer, TestbedFaults& faults) {
  do {
    const auto line = peer.receive(deadline_after(kLinePatience));
    if (!line || !*line) return false;
    if (!peer.send(answer_line(carry_out(**line, faults)))) return false;
  } while (peer.has_line());
  return true;
}

void refuse(const FileDescriptor& listener) {
  const auto other = accept_from(listener);
  if (!other) return;
  static_cast<void>(other->send(
      answer_line(fail(ErrorCode::kUnavailable,
                       "another `testbed fault` makes faults on this test bed: wait for "
                       "its end"))));
}

}  // namespace

Expected<> serve_faults(const std::filesystem::path& socket, TestbedFaults& faults, int stop) {
  PARETO_ASSIGN(const FileDescriptor listener, listen_at(socket));
  std::optional<LineChannel> peer;
  for (;;) {
    std::array<pollfd, 3> polled{{{stop, POLLIN, 0},
                                  {listener.get(), POLLIN, 0},
                                  {peer ? peer->descriptor() : -1, POLLIN, 0}}};
    PARETO_TRY(poll_until(polled, std::nullopt));
    if (polled[0].revents != 0) return {};
    if (polled[2].revents != 0 && !answer(*peer, faults)) {
      peer.reset();
      faults.end_all();
    }
    if (polled[1].revents == 0) continue;
    if (peer) {
      refuse(listener);
    } else {
      peer = accept_from(listener);
    }
  }
}

}  // namespace pareto::cluster
