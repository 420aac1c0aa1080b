#include "client/cluster/link_setup.h"

#include <bit>
#include <utility>

#include "core/base/printable.h"
#include "core/plan/protocol.h"
#include "core/wire/message.h"

namespace pareto::client {
namespace {

using wire::Message;
using wire::MessageKind;

std::string refusal(const Message& answer) {
  if (const auto* tuple = answer.body.get_if<Tuple>(); tuple && tuple->items.size() == 2) {
    if (const auto* text = tuple->items[1].get_if<std::string>()) return printable(*text);
  }
  return fmt::format("answered a message of kind {} to hello", static_cast<int>(answer.kind));
}

}  // namespace

Expected<std::unique_ptr<transport::Link>> connect_to_stage(transport::Transport& transport,
                                                            const std::string& address,
                                                            const Hello& hello,
                                                            std::chrono::milliseconds timeout,
                                                            const transport::Limits& limits) {
  const Deadline deadline = deadline_after(timeout);
  PARETO_ASSIGN(auto link, transport.connect(address, deadline, limits));
  Message message;
  message.kind = MessageKind::kHello;
  message.pipeline = hello.pipeline;
  message.body = Dict{{{"protocol", static_cast<std::int64_t>(kProtocolVersion)},
                       {"pipeline", std::bit_cast<std::int64_t>(hello.pipeline)},
                       {"stage", static_cast<std::int64_t>(hello.stage)},
                       {"role", std::string(hello.role)}}};
  PARETO_TRY(link->send(message, deadline));
  PARETO_ASSIGN(const transport::Received& answer, link->receive(deadline));
  if (answer.message.kind != MessageKind::kReady) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", link->peer(), refusal(answer.message));
  }
  return link;
}

}  // namespace pareto::client
