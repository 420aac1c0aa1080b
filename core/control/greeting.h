// The first words on a link, said and answered: who connects to a stage, and who was connected to.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/transport/transport.h"

namespace pareto::control {

/// The longest that a peer may take to answer a hello. Its kernel accepts connections for a daemon
/// that is stopped, so a connection alone does not tell that anybody is there.
inline constexpr std::chrono::seconds kHelloPatience{5};

/// Says hello and waits until the peer is ready, at most until the deadline or for kHelloPatience.
/// Returns how often the peer shows life; 0: it does not. Fails: as links do; if the peer refuses,
/// with the peer's own code and its sentence after its address.
Expected<Nanoseconds> introduce(transport::Link& link, const Hello& hello, Deadline deadline);

/// Choice of LifeOptions::listens: kYes if a link listens while its owner does not receive.
enum class Listening { kNo, kYes };

/// Connects to a stage and introduces itself. From then on both ends show each other that they are
/// alive, if the peer does and it is in another process; `hello.beat` need not be set. Fails: as
/// Transport::connect, introduce() and LiveLink::make().
Expected<std::unique_ptr<transport::Link>> connect_to_stage(
    transport::Transport& transport, const std::string& address, const Hello& hello,
    Deadline deadline, const transport::LinkOptions& options = {},
    Listening listening = Listening::kNo);
/// Makes a link that was connected to, by one who said that hello, show and judge life like the
/// other end. It begins with the first message sent. Takes the link if it succeeds. Fails: as
/// LiveLink::make().
Expected<std::unique_ptr<transport::Link>> answering_link(std::unique_ptr<transport::Link>& link,
                                                          const Hello& hello);

}  // namespace pareto::control
