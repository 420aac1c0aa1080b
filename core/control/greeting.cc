#include "core/control/greeting.h"

#include <algorithm>

#include "core/transport/live_link.h"

namespace pareto::control {

Expected<Nanoseconds> introduce(transport::Link& link, const Hello& hello, Deadline deadline) {
  const TimePoint patience = *deadline_after(kHelloPatience);
  const TimePoint until = deadline ? std::min(*deadline, patience) : patience;
  PARETO_TRY(link.send(hello_message(hello), until));
  const auto answer = link.receive(until);
  if (!answer && answer.error().code == ErrorCode::kTimeout) {
    return fail(ErrorCode::kTimeout,
                "{}: it took the connection and does not answer: its daemon may be stopped, or its "
                "device too busy",
                link.peer());
  }
  if (!answer) return tl::unexpected(answer.error());
  if (answer->message.kind == wire::MessageKind::kReady) {
    return with_context(beat_of_ready(answer->message), "{}", link.peer());
  }
  const Error refused = error_of(answer->message);
  return fail(refused.code, "{}: {}", link.peer(), refused.message);
}

Expected<std::unique_ptr<transport::Link>> connect_to_stage(transport::Transport& transport,
                                                            const std::string& address,
                                                            const Hello& hello, Deadline deadline,
                                                            const transport::LinkOptions& options,
                                                            Listening listening) {
  PARETO_ASSIGN(auto link, transport.connect(address, deadline, options));
  Hello said = hello;
  // A process that hangs hangs with both ends. A probe has deadlines.
  const bool beats = transport.reach() != transport::Reach::kProcess && hello.role != Role::kProbe;
  if (beats) said.beat = transport::kBeat;
  PARETO_ASSIGN(const Nanoseconds peer_beat, introduce(*link, said, deadline));
  if (hello.role == Role::kProbe) return link;
  return transport::LiveLink::make(link, {.pipeline = hello.pipeline,
                                          .peer_beat = beats ? peer_beat : Nanoseconds(0),
                                          .listens = listening == Listening::kYes});
}

Expected<std::unique_ptr<transport::Link>> answering_link(std::unique_ptr<transport::Link>& link,
                                                          const Hello& hello) {
  return transport::LiveLink::make(
      link,
      {.pipeline = hello.pipeline, .peer_beat = hello.beat, .begins_with_first_message = true});
}

}  // namespace pareto::control
