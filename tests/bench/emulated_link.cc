// The link emulator against what it is asked for: round trips, rates, losses, jitter and traces.
// Needs root.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "netem/emulated_pair.h"
#include "netem/link_measurement.h"
#include "tests/bench/benches.h"
#include "tests/bench/interleaved.h"

namespace pareto::bench {
namespace {

using netem::EmulatedPair;
using netem::LinkMeasurement;
using std::chrono::duration;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The share of a wire's bytes that a full packet of TCP with time stamps has as payload.
constexpr double kPayloadShare = 1448.0 / 1500;

plan::Condition both_ways(const plan::LinkDirection& direction) { return {direction, direction}; }

Expected<LinkMeasurement> measured(const plan::Condition& condition,
                                   const netem::MeasurementOptions& options) {
  PARETO_ASSIGN(const EmulatedPair pair, EmulatedPair::create(condition));
  return netem::measure_link(pair.first(), pair.second(), options);
}

/// One TCP connection over the link.
struct ProbedStream {
  FileDescriptor near;
  FileDescriptor far;

  static Expected<ProbedStream> open(const EmulatedPair& pair) {
    ProbedStream stream;
    FileDescriptor listener;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, EmulatedPair::kSecond, &address.sin_addr);
    const auto failed = [](const char* what) {
      return tl::unexpected(error_from_errno(errno, what));
    };
    PARETO_TRY(pair.second().where.run([&]() -> Expected<> {
      listener = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return failed("bind");
      if (::listen(listener.get(), 1) != 0) return failed("listen");
      socklen_t size = sizeof(address);
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
      return {};
    }));
    PARETO_TRY(pair.first().where.run([&]() -> Expected<> {
      stream.near = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (::connect(stream.near.get(), reinterpret_cast<const sockaddr*>(&address),
                    sizeof(address)) != 0) {
        return failed("connect");
      }
      return {};
    }));
    stream.far = FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!stream.far) return failed("accept");
    return stream;
  }

  /// Sends without a pause; `on_bytes(count, when)` for all that arrives, until it is false.
  template <typename OnBytes>
  void run(OnBytes on_bytes) {
    const std::jthread sender([this] {
      const std::vector<char> data(256 << 10);
      while (::send(near.get(), data.data(), data.size(), MSG_NOSIGNAL) > 0) {
      }
    });
    std::vector<char> buffer(1 << 20);
    for (;;) {
      const ssize_t got = ::recv(far.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0 || !on_bytes(static_cast<double>(got), now())) break;
    }
    // Not both ends at once: what is on its way is dropped, and the sender wakes.
    ::shutdown(far.get(), SHUT_RDWR);
    ::shutdown(near.get(), SHUT_RDWR);
  }
};

struct Goodput {
  double bits_per_second = 0;
  double processor_share =
      0;  ///< share of one core: this whole process, both ends of the stream included
};

/// Measures the goodput of one warm TCP stream: its first seconds do not count.
Expected<Goodput> goodput(const plan::LinkDirection& direction, Nanoseconds warm,
                          Nanoseconds counted) {
  PARETO_ASSIGN(const EmulatedPair pair, EmulatedPair::create(both_ways(direction)));
  PARETO_ASSIGN(ProbedStream stream, ProbedStream::open(pair));
  const TimePoint start = now();
  std::optional<TimePoint> from;
  Nanoseconds spent_before{};
  TimePoint until = start;
  double bytes = 0;
  stream.run([&](double got, TimePoint when) {
    if (when - start < warm) return true;
    if (!from) {
      from = when;
      spent_before = processor_time();
      return true;
    }
    bytes += got;
    until = when;
    return when - *from < counted;
  });
  if (!from || until == *from) return fail(ErrorCode::kTimeout, "nothing came across");
  const duration<double> took = until - *from;
  const duration<double> spent = processor_time() - spent_before;
  return Goodput{bytes * 8 / took.count(), spent / took};
}

}  // namespace

Expected<std::vector<Row>> emulated_round_trip(const std::string& name, double milliseconds_asked) {
  plan::LinkDirection direction;
  direction.delay = Nanoseconds(std::llround(milliseconds_asked * 1e6 / 2));
  netem::MeasurementOptions options;
  options.stream = {};
  PARETO_ASSIGN(const LinkMeasurement link, measured(both_ways(direction), options));
  const double found = to_milliseconds(link.round_trip);
  const double allowed = std::max(milliseconds_asked / 100, 0.3);
  return std::vector<Row>{{name, std::abs(found - milliseconds_asked) / allowed, 1, false,
                           fmt::format("{:.2f} ms, asked for {} ms, {:.2f} ms off are allowed",
                                       found, milliseconds_asked, allowed)}};
}

Expected<std::vector<Row>> emulated_goodput(const std::string& name, int megabits,
                                            Nanoseconds delay, double bar) {
  plan::LinkDirection direction;
  direction.delay = delay;
  direction.bits_per_second = static_cast<std::uint64_t>(megabits) * 1'000'000;
  PARETO_ASSIGN(const Goodput found,
                goodput(direction, std::chrono::seconds(2), std::chrono::seconds(3)));
  return std::vector<Row>{
      {name, found.bits_per_second / (megabits * 1e6), bar, true,
       fmt::format(
           "{:.2f} Mbit/s of payload, {:.3f} can be; {:.0f} % of a core, both ends included",
           found.bits_per_second / 1e6, kPayloadShare, found.processor_share * 100)}};
}

Expected<std::vector<Row>> emulated_loss(const std::string& name, double share) {
  plan::Condition condition;
  condition.forward.loss = share;
  netem::MeasurementOptions options;
  options.probes = 20'000;
  options.interval = microseconds(100);
  options.stream = {};
  PARETO_ASSIGN(const LinkMeasurement link, measured(condition, options));
  const double allowed =
      2.576 * std::sqrt(share * (1 - share) / static_cast<double>(link.forward.probes));
  return std::vector<Row>{
      {name, std::abs(link.forward.loss - share) / allowed, 1, false,
       fmt::format("{:.3f} % of {} packets, asked for {} %; half of the 99 % "
                   "interval is {:.3f} %",
                   link.forward.loss * 100, link.forward.probes, share * 100, allowed * 100)}};
}

Expected<std::vector<Row>> emulated_jitter(const std::string& name, plan::JitterShape shape) {
  constexpr Nanoseconds kDeviation = milliseconds(2);
  plan::Condition condition;
  condition.forward.delay = milliseconds(10);
  condition.forward.jitter = {kDeviation, 0, shape};
  netem::MeasurementOptions options;
  options.probes = 800;
  // So far apart that none has to wait for the one before.
  options.interval = milliseconds(15);
  options.stream = {};
  PARETO_ASSIGN(const LinkMeasurement link, measured(condition, options));
  const double found = to_milliseconds(link.round_trip_deviation);
  const double asked = to_milliseconds(kDeviation);
  return std::vector<Row>{{name, std::abs(found / asked - 1) / 0.1, 1, false,
                           fmt::format("standard deviation {:.2f} ms, asked for {:.2f}, {} packets",
                                       found, asked, link.forward.probes)}};
}

Expected<std::vector<Row>> emulated_step(const std::string& name) {
  constexpr Nanoseconds kStep = std::chrono::seconds(2);
  constexpr Nanoseconds kBin = milliseconds(20);
  constexpr double kSlow = 10e6;
  plan::LinkDirection direction;
  direction.delay = milliseconds(1);
  direction.bits_per_second = 100'000'000;
  direction.trace = {{kStep, std::nullopt, static_cast<std::uint64_t>(kSlow)}};
  const TimePoint start = now();
  PARETO_ASSIGN(const EmulatedPair pair, EmulatedPair::create(both_ways(direction)));
  // Its time begins between these two.
  const Nanoseconds unsure = now() - start;
  PARETO_ASSIGN(ProbedStream stream, ProbedStream::open(pair));
  std::vector<double> bytes(static_cast<std::size_t>((kStep + std::chrono::seconds(1)) / kBin));
  stream.run([&](double got, TimePoint when) {
    const auto bin = static_cast<std::size_t>((when - start) / kBin);
    if (bin >= bytes.size()) return false;
    bytes[bin] += got;
    return true;
  });
  // The last bin in which more came than the slow rate brings.
  const double most = kSlow / 8 * duration<double>(kBin).count() * 1.2;
  std::size_t last = 0;
  for (std::size_t bin = 0; bin < bytes.size(); ++bin) {
    if (bytes[bin] > most) last = bin;
  }
  const double reached = to_milliseconds((last + 1) * kBin - kStep);
  return std::vector<Row>{{name, reached / 100, 1, false,
                           fmt::format("{:.0f} ms after the step, in steps of 20 (the link took "
                                       "{:.0f} ms to make)",
                                       reached, to_milliseconds(unsure))}};
}

}  // namespace pareto::bench
