#include "coordinator/enrolment/enrolment_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/broken_pipes.h"
#include "core/base/poll.h"
#include "core/tls/enrolment_channel.h"
#include "core/transport/site.h"
#include "core/transport/socket.h"

namespace pareto::enrolment {
namespace {

// What strangers do is told so often; a port that is scanned is no news any more.
constexpr int kMostNotices = 20;
constexpr int kAcceptedAtOnce = 64;
// Where no connection can be taken (no descriptors are left), until it is tried again.
constexpr std::chrono::milliseconds kRest{200};

}  // namespace

struct EnrolmentServer::Impl {
  struct Connection {
    FileDescriptor socket;
    std::string peer;
    std::atomic<bool> invited = false;  ///< it has proved that it knows the token
    std::atomic<bool> done = false;
    std::jthread thread{};
  };

  Impl(tls::Authority& signing, Invitation invited, Notice told, const EnrolmentLimits& bounds,
       transport::Waker wakes)
      : authority(signing),
        invitation(std::move(invited)),
        notice(std::move(told)),
        limits(bounds),
        waker(std::move(wakes)) {}

  ~Impl() {
    for (Connection& one : connections) end(one);
    connections.clear();
  }

  static void end(const Connection& connection) { ::shutdown(connection.socket.get(), SHUT_RDWR); }

  void tell(const std::string& sentence) {
    const std::lock_guard lock(mutex);
    if (++notices <= kMostNotices) notice(sentence);
  }

  /// Ends serve() with this outcome; the first one counts.
  void settle(Expected<Enrolled> with) {
    const std::lock_guard lock(mutex);
    // A device that is getting its certificate is the outcome, whatever others do meanwhile.
    if (!outcome && (with || !claimed)) outcome = std::move(with);
    changed.notify_all();
    waker.wake();
  }

  void make_room() {
    connections.remove_if([](const Connection& one) { return one.done.load(); });
    if (connections.size() < limits.connections) return;
    std::map<std::string, int> count;
    for (const Connection& one : connections) {
      if (!one.invited) ++count[transport::site_of(one.peer)];
    }
    if (count.empty()) return;
    int most = 0;
    for (const auto& [site, held] : count) most = std::max(most, held);
    const auto oldest = std::ranges::find_if(connections, [&](const Connection& one) {
      return !one.invited && count[transport::site_of(one.peer)] == most;
    });
    end(*oldest);
    connections.erase(oldest);
  }

  void admit(FileDescriptor socket) {
    make_room();
    Connection& one = connections.emplace_back();
    one.peer = transport::remote_address(socket);
    one.socket = std::move(socket);
    try {
      one.thread = std::jthread([this, &one] {
        const QuietBrokenPipes quiet;
        try {
          converse(one);
        } catch (const std::exception& error) {
          tell(fmt::format("{}: {}", one.peer, error.what()));
        }
        // The socket itself is closed when another one comes.
        end(one);
        one.done = true;
      });
    } catch (const std::system_error&) {
      connections.pop_back();  // no thread is left for it
    }
  }

  void accept_all(const FileDescriptor& at) {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      auto socket = transport::accept_connection(at, waker, std::chrono::steady_clock::now());
      if (socket) {
        admit(*std::move(socket));
        continue;
      }
      // It stays ready: without a rest this would be tried without end.
      if (socket.error().code == ErrorCode::kExhausted) std::this_thread::sleep_for(kRest);
      return;
    }
  }

  void converse(Connection& connection) {
    const Deadline deadline = deadline_after(limits.conversation);
    auto channel = tls::EnrolmentChannel::accept(connection.socket.get(), *context, deadline);
    if (!channel) {
      if (channel.error().code == ErrorCode::kPermission) {
        tell(fmt::format("{}: {}", connection.peer, channel.error().message));
      }
      return;
    }
    auto reply = answer(connection, **channel, deadline);
    if (!reply) {
      tell(fmt::format("{}: {}", connection.peer, reply.error().message));
      return;
    }
    auto sent = (*channel)->send(tls::encode(reply->message), deadline);
    if (reply->message.error) return end_if_guessed();
    const auto end = sent.and_then([&] { return end_of(**channel, deadline); });
    Enrolled enrolled{std::move(reply->certificate), connection.peer, std::nullopt};
    if (!end) enrolled.unconfirmed = end.error();
    settle(std::move(enrolled));
  }

  static Expected<> end_of(tls::EnrolmentChannel& channel, Deadline deadline) {
    PARETO_ASSIGN(const std::string bytes, channel.receive(tls::kLongestEnrolmentEnd, deadline));
    PARETO_ASSIGN(const tls::EnrolmentEnd end, tls::parse_enrolment_end(bytes));
    if (!end.error) return {};
    return tl::unexpected(*end.error);
  }

  struct Answer {
    tls::EnrolmentReply message;
    tls::IssuedCertificate certificate;
  };

  Answer refuse(const Connection& connection, ErrorCode code, std::string sentence) {
    tell(fmt::format("{}: refused: {}", connection.peer, sentence));
    return {{Error{code, std::move(sentence)}, "", "", ""}, {}};
  }

  /// Receives a request, and makes its answer. Fails: with what is no request.
  Expected<Answer> answer(Connection& connection, tls::EnrolmentChannel& channel,
                          Deadline deadline) {
    PARETO_ASSIGN(const std::string bytes,
                  channel.receive(tls::kLongestEnrolmentRequest, deadline));
    PARETO_ASSIGN(const tls::EnrolmentRequest request, tls::parse_enrolment_request(bytes));
    const Digest proof =
        tls::proof_of(invitation.token, channel.binding(), request.name, request.request);
    if (!tls::is_same_proof(proof, request.proof)) return wrong_token(connection);
    if (!request.name.empty() && request.name != invitation.identity.name) {
      return refuse(connection, ErrorCode::kInvalidArgument,
                    fmt::format("the invitation is for {}, the device wants to be \"{}\"",
                                to_string(invitation.identity), request.name));
    }
    if (!claim()) {
      return refuse(connection, ErrorCode::kPermission,
                    "the token was used: paretoctl pki issue makes another");
    }
    connection.invited = true;
    auto done = sign(request);
    if (done) return done;
    connection.invited = false;
    release();
    if (done.error().code == ErrorCode::kInvalidArgument) {
      return refuse(connection, done.error().code, done.error().message);
    }
    // What is wrong with the authority's folder is not the device's business.
    tell(fmt::format("{}: not signed: {}", connection.peer, done.error().message));
    return Answer{{Error{done.error().code, "the authority cannot sign: its own terminal says why"},
                   "", "", ""},
                  {}};
  }

  Answer wrong_token(const Connection& connection) {
    tell(fmt::format("{}: wrong token ({} of {})", connection.peer, ++wrong_tokens,
                     limits.wrong_tokens));
    const Error error{ErrorCode::kPermission,
                      "wrong token: compare it with what paretoctl pki issue prints there"};
    return {{error, "", "", ""}, {}};
  }

  /// Ends the invitation after too many wrong tokens, once the last one has got its answer.
  void end_if_guessed() {
    if (wrong_tokens < limits.wrong_tokens) return;
    settle(fail(ErrorCode::kPermission,
                "{} wrong tokens: the invitation has ended. If you did not mistype it, somebody on "
                "this network guesses",
                limits.wrong_tokens));
  }

  /// Takes the one certificate that this invitation gives. False: somebody has it, or it is over.
  bool claim() {
    const std::lock_guard lock(mutex);
    return wrong_tokens < limits.wrong_tokens && !outcome && !closing &&
           !std::exchange(claimed, true);
  }

  void release() {
    const std::lock_guard lock(mutex);
    claimed = false;
    changed.notify_all();
  }

  Expected<Answer> sign(const tls::EnrolmentRequest& request) {
    PARETO_ASSIGN(std::string revoked, authority.revoked_der());
    PARETO_ASSIGN(tls::SignedCertificate certificate,
                  authority.sign(request.request, invitation.identity, invitation.terms));
    // A certificate that was taken back just now is on it.
    PARETO_ASSIGN(revoked, authority.revoked_der());
    return Answer{{std::nullopt, std::move(certificate.certificate), authority.certificate_der(),
                   std::move(revoked)},
                  std::move(certificate.record)};
  }

  /// Returns the outcome. A device that has just got its certificate is waited for.
  Expected<Enrolled> close(Error otherwise) {
    std::unique_lock lock(mutex);
    closing = true;
    changed.wait_for(lock, claimed ? limits.conversation : std::chrono::milliseconds(0),
                     [&] { return outcome.has_value() || !claimed; });
    if (outcome) return *std::move(outcome);
    return tl::unexpected(std::move(otherwise));
  }

  Expected<Enrolled> serve(int stop) {
    std::vector<pollfd> polled;
    for (const FileDescriptor& one : listening) polled.push_back({one.get(), POLLIN, 0});
    polled.push_back({waker.descriptor(), POLLIN, 0});
    polled.push_back({stop, POLLIN, 0});  // -1 is passed over
    for (;;) {
      if (auto ready = poll_until(polled, until); !ready) {
        if (ready.error().code != ErrorCode::kTimeout) return close(std::move(ready).error());
        return close(
            {ErrorCode::kTimeout,
             fmt::format("nobody enrolled as {} in time: paretoctl pki issue invites again",
                         to_string(invitation.identity))});
      }
      const pollfd& woken = polled[listening.size()];
      const pollfd& stopped = polled[listening.size() + 1];
      if (woken.revents != 0 || stopped.revents != 0) {
        return close({ErrorCode::kClosed, "stopped: nobody enrolled, the token is worth nothing"});
      }
      for (std::size_t i = 0; i < listening.size(); ++i) {
        if (polled[i].revents != 0) accept_all(listening[i]);
      }
    }
  }

  tls::Authority& authority;
  const Invitation invitation;
  const Notice notice;
  const EnrolmentLimits limits;
  std::shared_ptr<ssl_ctx_st> context;
  std::vector<FileDescriptor> listening;
  Deadline until;
  std::list<Connection> connections;  ///< used by the thread that serves only
  transport::Waker waker;
  std::atomic<int> wrong_tokens = 0;
  std::mutex mutex;  ///< guards the following members, and the notice
  std::condition_variable changed;
  std::optional<Expected<Enrolled>> outcome;
  bool claimed = false;  ///< a device is getting the certificate, or has it
  bool closing = false;
  int notices = 0;
};

EnrolmentServer::EnrolmentServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EnrolmentServer::~EnrolmentServer() = default;

Expected<std::unique_ptr<EnrolmentServer>> EnrolmentServer::open(
    const transport::HostPort& listen, tls::Authority& authority, Invitation invitation,
    std::chrono::seconds life, Notice notice, const EnrolmentLimits& limits) {
  PARETO_ASSIGN(transport::Waker waker, transport::Waker::create());
  auto impl = std::make_unique<Impl>(authority, std::move(invitation), std::move(notice), limits,
                                     std::move(waker));
  PARETO_ASSIGN(impl->listening, transport::open_listeners(listen));
  impl->context = authority.enrolment_context(life);
  impl->until = deadline_after(life);
  return std::unique_ptr<EnrolmentServer>(new EnrolmentServer(std::move(impl)));
}

std::uint16_t EnrolmentServer::port() const {
  const auto address =
      transport::parse_host_port(transport::local_address(impl_->listening.front()));
  return address ? address->port : std::uint16_t{0};
}

Expected<Enrolled> EnrolmentServer::serve(int stop) { return impl_->serve(stop); }

}  // namespace pareto::enrolment
