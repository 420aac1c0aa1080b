#include "core/transport/connection_race.h"

#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/base/poll.h"
#include "core/base/text.h"
#include "core/transport/socket.h"

namespace pareto::transport {
namespace {

struct Attempt {
  std::string to;
  FileDescriptor socket;  ///< none once it has failed
  int number = 0;         ///< why it failed; 0: no answer came
  bool began = false;     ///< there was a socket for it
};

class Race {
 public:
  Race(const std::vector<Endpoint>& endpoints, const std::string& asked, Deadline deadline,
       Nanoseconds apart)
      : endpoints_(endpoints), asked_(asked), deadline_(deadline), apart_(apart) {}

  Expected<FileDescriptor> run() {
    for (;;) {
      if (is_any_left() && (!is_any_under_way() || std::chrono::steady_clock::now() >= next_)) {
        PARETO_TRY(start_next());
        continue;
      }
      if (!is_any_under_way()) return failed(ErrorCode::kUnavailable);
      if (auto connected = take_connected()) return std::move(*connected);
      if (!is_any_under_way()) continue;
      if (!is_any_left() && std::chrono::steady_clock::now() >= next_) start_fresh();
      const bool waits_for_start = !deadline_ || next_ < *deadline_;
      const auto ready = wait(waits_for_start ? Deadline(next_) : deadline_);
      if (ready) continue;
      if (ready.error().code != ErrorCode::kTimeout) return tl::unexpected(ready.error());
      if (!waits_for_start) return failed(ErrorCode::kTimeout);
    }
  }

 private:
  bool is_any_left() const { return attempts_.size() < endpoints_.size(); }
  bool is_any_under_way() const {
    return std::ranges::any_of(attempts_,
                               [](const Attempt& one) { return static_cast<bool>(one.socket); });
  }

  Expected<> start_next() {
    const Endpoint& endpoint = endpoints_[attempts_.size()];
    Attempt& attempt = attempts_.emplace_back();
    next_ =
        std::chrono::steady_clock::now() + (is_any_left() ? apart_ : Nanoseconds(kFreshAttempt));
    begin(attempt, endpoint);
    // A kernel without IPv6 still has IPv4.
    if (!attempt.socket && attempt.number != EAFNOSUPPORT && !attempt.began) {
      return fail(ErrorCode::kExhausted, "no socket: {}", errno_text(attempt.number));
    }
    return {};
  }

  /// Tries an address that has not answered once more.
  void start_fresh() {
    next_ = std::chrono::steady_clock::now() + kFreshAttempt;
    fresh_.socket.reset();
    for (std::size_t i = 0; i < attempts_.size(); ++i) {
      turn_ = (turn_ + 1) % attempts_.size();
      if (attempts_[turn_].socket) return begin(fresh_, endpoints_[turn_]);
    }
  }

  static void begin(Attempt& attempt, const Endpoint& endpoint) {
    attempt.to = to_string(endpoint);
    attempt.socket = FileDescriptor(
        ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    attempt.began = static_cast<bool>(attempt.socket);
    if (!attempt.began) {
      attempt.number = errno;
      return;
    }
    const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
    if (::connect(attempt.socket.get(), address, endpoint.size) != 0 && errno != EINPROGRESS &&
        errno != EINTR) {
      give_up(attempt, errno);
    }
  }

  static void give_up(Attempt& attempt, int number) {
    attempt.number = number;
    attempt.socket = FileDescriptor();
  }

  /// Waits until an attempt has come to something.
  Expected<> wait(Deadline until) {
    std::vector<pollfd> polled;
    for (const Attempt& attempt : attempts_) {
      if (attempt.socket) polled.push_back({attempt.socket.get(), POLLOUT, 0});
    }
    if (fresh_.socket) polled.push_back({fresh_.socket.get(), POLLOUT, 0});
    return poll_until(polled, until);
  }

  /// Returns the first attempt that is connected; those that failed are given up.
  std::optional<FileDescriptor> take_connected() {
    for (Attempt& attempt : attempts_) {
      if (has_connected(attempt)) return std::move(attempt.socket);
    }
    if (has_connected(fresh_)) return std::move(fresh_.socket);
    return {};
  }

  /// Returns whether an attempt is connected. One that failed is given up.
  static bool has_connected(Attempt& attempt) {
    if (!attempt.socket) return false;
    pollfd polled{attempt.socket.get(), POLLOUT, 0};
    if (::poll(&polled, 1, 0) <= 0) return false;
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    // A connection to a free port of this machine can meet itself, when the kernel picks that port
    // for our end.
    if (number == 0 && local_address(attempt.socket) == remote_address(attempt.socket)) {
      number = ECONNREFUSED;
    }
    if (number != 0) give_up(attempt, number);
    return number == 0;
  }

  static std::string outcome_of(const Attempt& attempt) {
    if (attempt.number == 0) return "no answer";
    if (attempt.number == ECONNREFUSED) return "nobody listens";
    return errno_text(attempt.number);
  }

  /// Returns ": 10.0.0.1:7071: no answer, [::1]:7071: nobody listens"; nothing if that is all in
  /// what was asked for.
  std::string tried() const {
    if (attempts_.size() == 1 && attempts_.front().to == asked_) return "";
    std::vector<std::string> all;
    for (const Attempt& attempt : attempts_) all.push_back(attempt.to + ": " + outcome_of(attempt));
    return " (tried " + join(all, "; ") + ")";
  }

  tl::unexpected<Error> failed(ErrorCode code) const {
    if (code == ErrorCode::kTimeout) {
      return fail(code, "{} did not answer in time{}", asked_, tried());
    }
    const bool refused = std::ranges::all_of(
        attempts_, [](const Attempt& one) { return one.number == ECONNREFUSED; });
    if (refused) return fail(code, "nobody listens on {}{}", asked_, tried());
    const auto other = std::ranges::find_if(
        attempts_, [](const Attempt& one) { return one.number != ECONNREFUSED; });
    return fail(code, "cannot connect to {}: {}{}", asked_, errno_text(other->number), tried());
  }

  const std::vector<Endpoint>& endpoints_;
  const std::string& asked_;
  const Deadline deadline_;
  const Nanoseconds apart_;
  std::vector<Attempt> attempts_;
  Attempt fresh_;         ///< the last fresh one; errors do not name it
  std::size_t turn_ = 0;  ///< the address that it was for
  TimePoint next_{};      ///< when another one starts
};

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size,
                    host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  const bool ipv6 = endpoint.address.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", host.data(), ipv6 ? "]" : "", port.data());
}

std::vector<Endpoint> in_turns(std::vector<Endpoint> endpoints) {
  if (endpoints.empty()) return endpoints;
  const auto first_family = endpoints.front().address.ss_family;
  std::vector<Endpoint> first;
  std::vector<Endpoint> second;
  for (Endpoint& one : endpoints) {
    (one.address.ss_family == first_family ? first : second).push_back(one);
  }
  std::vector<Endpoint> turns;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) turns.push_back(first[i]);
    if (i < second.size()) turns.push_back(second[i]);
  }
  return turns;
}

Expected<FileDescriptor> connect_to_first(const std::vector<Endpoint>& endpoints,
                                          const std::string& asked, Deadline deadline,
                                          Nanoseconds apart) {
  if (endpoints.empty()) return fail(ErrorCode::kUnavailable, "{} has no address", asked);
  return Race(endpoints, asked, deadline, apart).run();
}

}  // namespace pareto::transport
