#include "coordinator/load/take_result.h"

#include <string>
#include <utility>

#include "coordinator/load/lost_request.h"
#include "core/control/hello.h"
#include "core/wire/message.h"
#include "core/wire/parts.h"

namespace pareto::load {
namespace {

using wire::Message;
using wire::MessageKind;

// Of one model.
constexpr std::size_t kMaxResults = 4096;
}  // namespace

Expected<TakenResult> take_result(transport::Link& sink, std::uint64_t request, TimePoint sent,
                                  std::chrono::milliseconds timeout) {
  const TimePoint deadline = sent + timeout;
  wire::PartAssembler assembler(kMaxResults);
  transport::Received parts;
  auto received = sink.receive(deadline);
  while (received && received->message.kind == MessageKind::kPart) {
    parts.add_earlier(*received);
    PARETO_TRY(assembler.keep(std::move(received->message)));
    received = sink.receive(deadline);
  }
  if (!received && received.error().code == ErrorCode::kTimeout) {
    return tl::unexpected(no_result_in(timeout));
  }
  if (!received) return tl::unexpected(std::move(received).error());
  received->add_earlier(parts);
  Message& message = received->message;
  if (message.kind == MessageKind::kEnd) {
    return fail(ErrorCode::kClosed, "the last stage ended the pipeline");
  }
  if ((message.kind != MessageKind::kValues && message.kind != MessageKind::kError) ||
      message.request != request) {
    return fail(ErrorCode::kCorrupt, "instead came a message of kind {} for request {}",
                static_cast<int>(message.kind), message.request);
  }
  TakenResult taken;
  if (message.kind == MessageKind::kError) {
    taken.failure = control::error_of(message);
  } else {
    PARETO_TRY(assembler.complete(message));
  }
  taken.received = *std::move(received);
  return taken;
}

}  // namespace pareto::load
