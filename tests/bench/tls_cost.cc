#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/wires.h"

namespace pareto::bench {
namespace {

constexpr std::int64_t kStreamed = 4 << 20;
constexpr int kStreamedMessages = 24;
constexpr std::int64_t kBoundary = 150 << 10;
constexpr int kRoundTrips = 20;

}  // namespace

Expected<std::vector<Row>> tls_goodput(const std::string& name, const std::string& transport) {
  PARETO_ASSIGN(const auto peer, WirePeer::start());
  PARETO_ASSIGN(const auto secured, peer->wire(transport, kStreamed, {.secured = true}));
  PARETO_ASSIGN(const auto plain, peer->wire(transport, kStreamed));
  std::vector<double> ratios;
  std::vector<double> costs;
  std::vector<double> plain_costs;
  for (int round = 0; round <= kTransportRounds; ++round) {
    PARETO_ASSIGN(const Stream with, stream(*secured, kStreamedMessages));
    PARETO_ASSIGN(const Stream without, stream(*plain, kStreamedMessages));
    if (round == 0) continue;
    constexpr double kPerByte = 1e9 / (kStreamedMessages * static_cast<double>(kStreamed));
    ratios.push_back(without.seconds / with.seconds);
    costs.push_back(with.processor_seconds * kPerByte);
    plain_costs.push_back(without.processor_seconds * kPerByte);
  }
  return std::vector<Row>{
      {name + "/4MB", statistics::median(ratios), 0.5, true,
       fmt::format("of the goodput without; {:.3f} ns of CPU a byte, {:.3f} "
                   "without, both ends",
                   statistics::median(costs), statistics::median(plain_costs))}};
}

Expected<std::vector<Row>> tls_latency(const std::string& name, const std::string& transport) {
  PARETO_ASSIGN(const auto peer, WirePeer::start());
  PARETO_ASSIGN(const auto secured, peer->wire(transport, kBoundary, {.secured = true}));
  PARETO_ASSIGN(const auto plain, peer->wire(transport, kBoundary));
  std::vector<double> with;
  std::vector<double> without;
  for (int round = 0; round <= kTransportRounds; ++round) {
    if (round == 1) {  // the first was the warm-up
      with.clear();
      without.clear();
    }
    PARETO_TRY(round_trips(*secured, kRoundTrips, with));
    PARETO_TRY(round_trips(*plain, kRoundTrips, without));
  }
  const double one_way = statistics::median(with) / 2;
  const double plain_one_way = statistics::median(without) / 2;
  return std::vector<Row>{{name + "/150KB", (one_way - plain_one_way) / 1e3, 0.2, false,
                           fmt::format("ms one way, beyond the plain link: {:.1f} us / {:.1f} us",
                                       one_way, plain_one_way)}};
}

}  // namespace pareto::bench
