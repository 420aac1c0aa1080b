#include "netem/link_measurement.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/text.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kHeaderBytes = 28;  // IPv4 and UDP
constexpr std::size_t kProbeBytes = 64;
constexpr std::size_t kStreamBytes = 1472;
constexpr std::int64_t kFewestStreamed = 30;
constexpr int kSendBuffer = 32 << 10;
/// The number of the packets that end a stream, each some time after the one before: some may be
/// lost.
constexpr std::int64_t kEnd = -1;
constexpr int kEnds = 10;
constexpr milliseconds kBetweenEnds{1};

/// The content of a packet.
struct Content {
  std::int64_t number = 0;
  std::int64_t sent_ns = 0;
};

/// Returns when the kernel took a packet in, by its wall clock, whenever somebody reads it.
Nanoseconds arrival(msghdr& message) {
  timespec time{};
  const cmsghdr* note = CMSG_FIRSTHDR(&message);
  if (note != nullptr && note->cmsg_level == SOL_SOCKET && note->cmsg_type == SCM_TIMESTAMPNS) {
    std::memcpy(&time, CMSG_DATA(note), sizeof(time));
  } else {
    ::clock_gettime(CLOCK_REALTIME, &time);
  }
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Expected<sockaddr_in> parse_address(const std::string& host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1) return address;
  return fail(ErrorCode::kInvalidArgument, "\"{}\" is not an IPv4 address", host);
}

/// A UDP socket on one end of the link, joined to another.
class Endpoint {
 public:
  static Expected<Endpoint> open(const LinkEnd& end) {
    PARETO_ASSIGN(sockaddr_in address, parse_address(end.address));
    Endpoint endpoint;
    const auto make = [&]() -> Expected<> {
      endpoint.socket_ = FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      if (!endpoint.socket_) return tl::unexpected(error_from_errno(errno, "making a socket"));
      const int fd = endpoint.socket_.get();
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer));
      const int room = 8 << 20;
      ::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
      const int wanted = 1;
      ::setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &wanted, sizeof(wanted));
      if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        return tl::unexpected(error_from_errno(errno, "binding to " + end.address));
      }
      socklen_t size = sizeof(endpoint.address_);
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&endpoint.address_), &size);
      return {};
    };
    PARETO_TRY(end.where.run(make));
    return endpoint;
  }

  Expected<> join(const Endpoint& other) const {
    const auto* const to = reinterpret_cast<const sockaddr*>(&other.address_);
    if (::connect(socket_.get(), to, sizeof(other.address_)) == 0) return {};
    return tl::unexpected(error_from_errno(errno, "joining two sockets"));
  }

  void send(const Content& content, std::size_t bytes) const {
    std::array<char, kStreamBytes> packet{};
    std::memcpy(packet.data(), &content, sizeof(content));
    // What a queue has no room for is lost, as anywhere on the way.
    static_cast<void>(::send(socket_.get(), packet.data(), bytes, 0));
  }

  /// Receives the next packet and returns when it arrived, by the wall clock; no value if none came
  /// until then.
  std::optional<Nanoseconds> receive(Content& content, TimePoint until) const {
    const auto left = std::max<Nanoseconds>(until - now(), Nanoseconds(0));
    const timespec patience{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    pollfd polled{socket_.get(), POLLIN, 0};
    if (::ppoll(&polled, 1, &patience, nullptr) <= 0) return std::nullopt;
    std::array<char, kStreamBytes> packet{};
    iovec bytes{packet.data(), packet.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> notes{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = notes.data();
    message.msg_controllen = notes.size();
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(sizeof(content))) return std::nullopt;
    std::memcpy(&content, packet.data(), sizeof(content));
    return arrival(message);
  }

 private:
  FileDescriptor socket_;
  sockaddr_in address_{};
};

/// The probes that have been seen.
class Seen {
 public:
  explicit Seen(int probes) : seen_(static_cast<std::size_t>(probes)) {}
  /// Returns whether it is a probe's number, and comes the first time.
  bool is_new(std::int64_t number) {
    if (number < 0 || number >= std::ssize(seen_)) return false;
    return std::exchange(seen_[static_cast<std::size_t>(number)], 1) == 0;
  }

 private:
  std::vector<char> seen_;
};

/// Sends back each probe once, and counts them. Threads: its own; the destructor ends it.
class Echo {
 public:
  Echo(const Endpoint& endpoint, int probes)
      : seen_(probes), thread_([&, this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            Content content;
            if (!endpoint.receive(content, now() + milliseconds(20))) continue;
            if (!seen_.is_new(content.number)) continue;
            ++count_;
            endpoint.send(content, kProbeBytes);
          }
        }) {}
  std::int64_t count() const { return count_; }

 private:
  Seen seen_;
  std::atomic<std::int64_t> count_{0};
  std::jthread thread_;  // last: it uses all of the above
};

Expected<> probe(const Endpoint& near, const Endpoint& far, const MeasurementOptions& options,
                 LinkMeasurement& result) {
  std::vector<Nanoseconds> times;
  Seen seen(options.probes);
  const auto take = [&](TimePoint until) {
    Content content;
    if (!near.receive(content, until)) return false;
    if (seen.is_new(content.number)) {
      times.push_back(now().time_since_epoch() - Nanoseconds(content.sent_ns));
    }
    return true;
  };
  std::int64_t echoed = 0;
  {
    const Echo echo(far, options.probes);
    TimePoint next = now();
    for (int number = 0; number < options.probes; ++number) {
      near.send({number, now().time_since_epoch().count()}, kProbeBytes);
      next += options.interval;
      while (now() < next) take(next);
    }
    while (std::ssize(times) < options.probes && take(now() + options.patience)) {
    }
    echoed = echo.count();
  }
  if (times.empty()) return fail(ErrorCode::kTimeout, "no packet came across and back");
  const auto share = [](std::int64_t lost, std::int64_t of) {
    return of == 0 ? 1.0 : static_cast<double>(lost) / static_cast<double>(of);
  };
  result.forward.probes = options.probes;
  result.forward.loss = share(options.probes - echoed, options.probes);
  result.backward.probes = echoed;
  result.backward.loss = share(echoed - std::ssize(times), echoed);
  double mean = 0;
  for (const Nanoseconds time : times) mean += to_nanoseconds(time);
  mean /= static_cast<double>(times.size());
  double squares = 0;
  for (const Nanoseconds time : times) squares += std::pow(to_nanoseconds(time) - mean, 2);
  result.round_trip_deviation =
      from_nanoseconds(std::sqrt(squares / static_cast<double>(times.size())));
  std::ranges::nth_element(times, times.begin() + std::ssize(times) / 2);
  result.round_trip = times[times.size() / 2];
  return {};
}

/// Bits a second that come across while more are sent than the link takes.
Expected<double> stream(const Endpoint& from, const Endpoint& to,
                        const MeasurementOptions& options) {
  std::atomic<bool> sending{true};
  const std::jthread sender([&] {
    const TimePoint end = now() + options.stream;
    for (std::int64_t number = 0; number < kFewestStreamed || now() < end; ++number) {
      from.send({number, 0}, kStreamBytes);
    }
    for (int i = 0; i < kEnds && options.in_order; ++i) {
      from.send({kEnd, 0}, kProbeBytes);
      std::this_thread::sleep_for(kBetweenEnds);
    }
    sending = false;
  });
  Content content;
  const auto began = to.receive(content, now() + 10 * options.patience);
  if (!began) return fail(ErrorCode::kTimeout, "no packet of a stream came across");
  Nanoseconds ended = *began;
  std::int64_t packets = 0;  // after the first
  for (;;) {
    const bool was_sending = sending;
    if (const auto arrived = to.receive(content, now() + options.patience)) {
      if (content.number == kEnd) break;
      ended = *arrived;
      ++packets;
    } else if (!was_sending) {
      break;
    }
  }
  const double bits = static_cast<double>(packets) * (kStreamBytes + kHeaderBytes) * 8;
  return bits / std::max(to_seconds(ended - *began), 1e-9);
}

void compare_rate(const char* direction, const plan::LinkDirection& asked,
                  const DirectionMeasurement& measured, std::vector<std::string>& off) {
  constexpr double kLeast = 0.9;
  constexpr double kMost = 1.1;
  if (asked.bits_per_second == 0 || measured.bits_per_second == 0 || !asked.trace.empty()) return;
  // Behind a rate packets are lost and copied (the user emulator); before it the sender makes up
  // for both (tc).
  const auto at_rate = static_cast<double>(asked.bits_per_second);
  const double behind = at_rate * (1 - loss_of(asked)) * (1 + asked.duplicate);
  const double expected =
      std::clamp(measured.bits_per_second, std::min(at_rate, behind), std::max(at_rate, behind));
  const double share = measured.bits_per_second / expected;
  if (share >= kLeast && share <= kMost) return;
  off.push_back(fmt::format("{}: {:.4g} Mbit/s of {:.6g}", direction,
                            measured.bits_per_second / 1e6, expected / 1e6));
}

void compare_loss(const char* direction, const plan::LinkDirection& asked,
                  const DirectionMeasurement& measured, std::vector<std::string>& off) {
  if (measured.probes == 0) return;
  constexpr double kDeviations = 3.5;
  const double share = loss_of(asked);
  const auto probes = static_cast<double>(std::max<std::int64_t>(measured.probes, 1));
  // Losses in bursts of n vary as single ones of a n-th of the packets do.
  const double burst = asked.burst_loss ? 2 / asked.burst_loss->leave : 1;
  const double chance = kDeviations * std::sqrt(share * (1 - share) * burst / probes);
  if (std::abs(measured.loss - share) <= chance + 1 / probes) return;
  off.push_back(
      fmt::format("{}: {:.2g}% lost, not {:.2g}%", direction, measured.loss * 100, share * 100));
}

/// Returns the deviation of round trips.
Nanoseconds deviation_of(const plan::Condition& condition) {
  return from_nanoseconds(std::hypot(to_nanoseconds(condition.forward.jitter.deviation),
                                     to_nanoseconds(condition.backward.jitter.deviation)));
}

bool keeps_order(const plan::LinkDirection& direction) {
  return direction.reorder == 0 &&
         std::ranges::none_of(direction.trace, [](const plan::ConditionChange& change) {
           return change.delay.has_value();
         });
}

Nanoseconds longest_delay(const plan::LinkDirection& direction) {
  Nanoseconds longest = direction.delay;
  for (const plan::ConditionChange& change : direction.trace) {
    longest = std::max(longest, change.delay.value_or(longest));
  }
  return longest;
}

void compare_round_trip(const plan::Condition& asked, const LinkMeasurement& measured,
                        std::vector<std::string>& off) {
  const plan::LinkDirection& there = asked.forward;
  const plan::LinkDirection& back = asked.backward;
  if (!there.trace.empty() || !back.trace.empty()) return;
  double expected = to_milliseconds(there.delay + back.delay);
  for (const plan::LinkDirection* direction : {&there, &back}) {
    if (direction->bits_per_second == 0) continue;
    expected +=
        (kProbeBytes + kHeaderBytes) * 8e3 / static_cast<double>(direction->bits_per_second);
  }
  const auto probes = static_cast<double>(std::max<std::int64_t>(measured.forward.probes, 1));
  const double chance = 5 * to_milliseconds(deviation_of(asked)) / std::sqrt(probes);
  const double found = to_milliseconds(measured.round_trip);
  if (std::abs(found - expected) <= std::max(expected / 20, 2.0) + chance) return;
  off.push_back(fmt::format("a round trip of {:.1f} ms, not {:.1f}", found, expected));
}

}  // namespace

double loss_of(const plan::LinkDirection& direction) {
  if (!direction.burst_loss) return direction.loss;
  const plan::BurstLoss& burst = *direction.burst_loss;
  const double bad = burst.enter / (burst.enter + burst.leave);
  return bad * burst.when_bad + (1 - bad) * burst.when_good;
}

MeasurementOptions measurement_for(const plan::Condition& condition) {
  MeasurementOptions options;
  if (loss_of(condition.forward) > 0 || loss_of(condition.backward) > 0) {
    options.probes = 2000;
    options.interval = milliseconds(1);
  }
  for (const plan::LinkDirection* direction : {&condition.forward, &condition.backward}) {
    if (direction->bits_per_second == 0) continue;
    constexpr double kBits = (kProbeBytes + kHeaderBytes) * 8 * 10;
    const double seconds = kBits / static_cast<double>(direction->bits_per_second);
    options.interval = std::max(options.interval, from_nanoseconds(seconds * 1e9));
  }
  const Nanoseconds deviation = deviation_of(condition);
  // Packets keep their order: one that waited for the one before would tell that one's delay.
  options.interval = std::max(options.interval, 4 * deviation);
  options.patience +=
      longest_delay(condition.forward) + longest_delay(condition.backward) + 5 * deviation;
  options.in_order = keeps_order(condition.forward) && keeps_order(condition.backward);
  // On a slow or restless link fewer must do: what fits into some seconds, or the usual number
  // where that does not take for ever.
  constexpr Nanoseconds kUsual = std::chrono::seconds(5);
  constexpr Nanoseconds kLongest = std::chrono::seconds(20);
  options.interval = std::min(options.interval, kLongest);
  const auto fewest =
      std::min<Nanoseconds::rep>(MeasurementOptions{}.probes, kLongest / options.interval);
  const auto in_time = std::max<Nanoseconds::rep>(kUsual / options.interval, fewest);
  options.probes = static_cast<int>(std::min<Nanoseconds::rep>(options.probes, in_time));
  return options;
}

Expected<LinkMeasurement> measure_link(const LinkEnd& first, const LinkEnd& second,
                                       const MeasurementOptions& options) {
  PARETO_ASSIGN(const Endpoint near, Endpoint::open(first));
  PARETO_ASSIGN(const Endpoint far, Endpoint::open(second));
  PARETO_TRY(near.join(far));
  PARETO_TRY(far.join(near));
  LinkMeasurement result;
  PARETO_TRY(probe(near, far, options, result));
  if (options.stream.count() == 0) return result;
  PARETO_ASSIGN(result.forward.bits_per_second, stream(near, far, options));
  PARETO_ASSIGN(result.backward.bits_per_second, stream(far, near, options));
  return result;
}

Expected<> check_measurement(const plan::Condition& asked, const LinkMeasurement& measured) {
  std::vector<std::string> off;
  compare_round_trip(asked, measured, off);
  compare_rate("forward", asked.forward, measured.forward, off);
  compare_rate("backward", asked.backward, measured.backward, off);
  compare_loss("forward", asked.forward, measured.forward, off);
  compare_loss("backward", asked.backward, measured.backward, off);
  if (off.empty()) return {};
  return fail(ErrorCode::kUnavailable, "the link is not what was asked for: {}", join(off, "; "));
}

}  // namespace pareto::netem
