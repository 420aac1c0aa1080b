#include "core/transport/link_probe.h"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>

#include "core/transport/ping.h"

namespace pareto::transport {
namespace {

using wire::Message;
using wire::MessageKind;

constexpr int kProbePings = 9;
constexpr int kMostMessages = 9;
constexpr int kFewestMessages = 3;
// What lies beyond them is told from a line through them.
constexpr std::size_t kFewestSizes = 2;
// Of those that follow each other the first few find the link empty.
constexpr int kFill = 2;
// Twice as many are fewer than the messages of one size that shared memory holds for a peer that is
// busy.
constexpr int kMostFill = 120;

TimePoint probe_now() { return std::chrono::steady_clock::now(); }

Nanoseconds median(std::vector<Nanoseconds> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// Messages of one size on one link. Threads: one owner.
class Prober {
 public:
  Prober(Link& link, PingWay way, TimePoint deadline)
      : link_(link), way_(way), deadline_(deadline) {}

  Expected<> set_size(std::uint64_t bytes) {
    const bool there = way_ == PingWay::kThere;
    PARETO_ASSIGN(Tensor tensor, incompressible(there ? bytes : 1));
    message_.kind = MessageKind::kPing;
    message_.body =
        Tuple{{there ? std::int64_t{1} : static_cast<std::int64_t>(bytes), std::move(tensor)}};
    point_ = {};
    point_.bytes = bytes;
    return {};
  }

  /// One there and back.
  Expected<Nanoseconds> round_trip() {
    const TimePoint start = probe_now();
    ++message_.request;
    PARETO_ASSIGN(const Sent sent, link_.send(message_, deadline_));
    PARETO_ASSIGN(const Received received, link_.receive(deadline_));
    const Nanoseconds time = probe_now() - start;
    PARETO_ASSIGN(const PingAnswer answer, read_pong(received.message, message_.request));
    const bool there = way_ == PingWay::kThere;
    point_.send_cpu = there ? sent.cpu : answer.send_cpu;
    point_.receive_cpu = there ? answer.receive_cpu : received.cpu;
    return time;
  }

  /// `fill` messages and then others, two at least, as fast as they can: the time between the
  /// results of the others.
  Expected<Nanoseconds> interval(int fill, int others) {
    const int count = fill + others;
    Expected<> sent;
    Expected<> received;
    std::vector<TimePoint> arrivals;
    {
      const std::uint64_t first = message_.request + 1;
      const std::jthread sender([&] {
        for (int i = 0; sent && i < count; ++i) {
          ++message_.request;
          const auto done = link_.send(message_, deadline_);
          if (done) continue;
          sent = tl::unexpected(done.error());
          link_.close();
        }
      });
      for (int i = 0; received && i < count; ++i) {
        auto result = link_.receive(deadline_);
        const auto answer = result
                                ? read_pong(result->message, first + static_cast<std::uint64_t>(i))
                                : tl::unexpected(std::move(result).error());
        arrivals.push_back(probe_now());
        if (answer) continue;
        received = tl::unexpected(answer.error());
        link_.close();
      }
    }
    // Who fails first closes the link under the other, which says no more than that.
    if (!received && received.error().code != ErrorCode::kClosed)
      return tl::unexpected(received.error());
    PARETO_TRY(sent);
    PARETO_TRY(received);
    return (arrivals.back() - arrivals[static_cast<std::size_t>(fill)]) / (others - 1);
  }

  const ProbePoint& point() const { return point_; }

 private:
  Link& link_;
  const PingWay way_;
  const TimePoint deadline_;
  Message message_;
  ProbePoint point_;
};

/// The factor by which a side may work faster on one message of many than on one alone: its caches
/// are warm.
constexpr int kWarmth = 2;
/// The number of measurements. A thread that is kept from its processor finds messages that have
/// come meanwhile, all at once: messages that follow each other faster than either side works on
/// one are measured again.
constexpr int kTries = 3;

/// Returns how many messages of that time fit.
int count_within(Nanoseconds budget, Nanoseconds time) {
  const auto fitting = static_cast<int>(
      std::min<std::int64_t>(budget / std::max(time, Nanoseconds(1)), kMostMessages));
  return std::max(fitting, kFewestMessages);
}

Expected<ProbePoint> measure(Prober& prober, std::uint64_t bytes, const ProbeOptions& options,
                             Nanoseconds back) {
  PARETO_TRY(prober.set_size(bytes));
  // The first opens windows and touches memory.
  PARETO_ASSIGN(Nanoseconds time, prober.round_trip());
  std::vector<Nanoseconds> times;
  const int count = count_within(options.budget / 2, time);
  for (int i = 0; i < count; ++i) {
    PARETO_ASSIGN(time, prober.round_trip());
    times.push_back(time);
  }
  ProbePoint point = prober.point();
  const Nanoseconds whole = median(std::move(times));
  // Where the small message was held up, half its round trip is no message's way back: it is no
  // more than the way there, of a message at least as large.
  back = std::min(back, whole / 2);
  point.crossing = whole - back;
  // Several under way at a time take the round trip once. If many fit into it, the sender's window
  // has to open first, in some round trips, and messages come in bursts until then: that many are
  // sent, and as many counted.
  const Nanoseconds alone = std::max(whole - 2 * back, Nanoseconds(1));
  const int under_way = static_cast<int>(std::min<std::int64_t>(4 * back / alone, kMostFill));
  const Nanoseconds least = std::max(point.send_cpu, point.receive_cpu) / kWarmth;
  for (int i = 0; i == 0 || (i < kTries && point.interval < least); ++i) {
    PARETO_ASSIGN(point.interval,
                  prober.interval(kFill + under_way,
                                  std::max(count_within(options.budget / 2, alone), under_way)));
  }
  point.interval = std::max(point.interval, least);
  return point;
}

}  // namespace

Expected<ProbeResult> probe_link(Link& link, const ProbeOptions& options, TimePoint deadline) {
  std::vector<std::uint64_t> sizes = options.sizes;
  std::ranges::sort(sizes);
  for (const std::uint64_t bytes : sizes) {
    if (bytes < 1 || bytes > kLargestPingBytes) {
      return fail(ErrorCode::kInvalidArgument, "a message of {} bytes to probe with: 1 to {}",
                  bytes, kLargestPingBytes);
    }
  }
  Prober prober(link, options.way, deadline);
  PARETO_TRY(prober.set_size(0));
  std::vector<Nanoseconds> small;
  const TimePoint began = probe_now();
  for (int i = 0; i < kProbePings; ++i) {
    PARETO_ASSIGN(const Nanoseconds time, prober.round_trip());
    small.push_back(time);
    if (i >= kFewestMessages && probe_now() - began > options.budget) break;
  }
  ProbeResult result;
  result.round_trip = median(small);
  for (const std::uint64_t bytes : sizes) {
    const auto point = measure(prober, bytes, options, result.round_trip / 2);
    const bool enough = result.points.size() >= kFewestSizes;
    if (!point && enough && point.error().code == ErrorCode::kTimeout) {
      link.close();
      break;
    }
    if (!point) return tl::unexpected(point.error());
    result.points.push_back(*point);
    if (point->crossing >= options.slow && result.points.size() >= kFewestSizes) break;
  }
  return result;
}

}  // namespace pareto::transport
