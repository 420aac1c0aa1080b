#include <algorithm>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/wires.h"

namespace pareto::bench {
namespace {

struct Size {
  const char* name;
  std::int64_t bytes;
};
constexpr Size kSizes[] = {{"1KB", 1 << 10},     {"16KB", 16 << 10}, {"150KB", 150 << 10},
                           {"600KB", 600 << 10}, {"4MB", 4 << 20},   {"13MB", 13 << 20}};
std::string reference_of(const std::string& transport) {
  return transport == "shm" ? "copy" : "bare";
}

template <typename Measure>
Expected<std::vector<Row>> for_every_size(const std::string& transport, Measure measure) {
  PARETO_ASSIGN(const auto peer, WirePeer::start());
  std::vector<Row> rows;
  for (const Size& size : kSizes) {
    PARETO_ASSIGN(const auto ours, peer->wire(transport, size.bytes));
    PARETO_ASSIGN(const auto reference, peer->wire(reference_of(transport), size.bytes));
    PARETO_TRY(measure(size, *ours, *reference, rows));
  }
  return rows;
}

}  // namespace

Expected<std::vector<Row>> transport_latency(const std::string& name,
                                             const std::string& transport) {
  const auto measure = [&](const Size& size, Wire& ours, Wire& reference,
                           std::vector<Row>& rows) -> Expected<> {
    const int count = messages_of(size.bytes, 4 << 20);
    std::vector<double> times;
    std::vector<double> bare;
    for (int round = 0; round <= kTransportRounds; ++round) {
      if (round == 1) {  // the first was the warm-up
        times.clear();
        bare.clear();
      }
      PARETO_TRY(round_trips(ours, count, times));
      PARETO_TRY(round_trips(reference, count, bare));
    }
    const double one_way = statistics::median(times) / 2;
    const double bare_one_way = statistics::median(bare) / 2;
    Row row;
    row.name = name + "/" + size.name;
    row.ratio = one_way / bare_one_way;
    if (transport == "shm" && size.bytes == 4 << 20) row.bar = 1.2;
    row.detail = fmt::format("{:.1f} us one way / {:.1f} us {}", one_way, bare_one_way,
                             reference_of(transport));
    rows.push_back(row);
    if (transport == "tcp" && size.bytes == 1 << 10) {
      rows.push_back({"overhead_us/tcp/1KB", one_way - bare_one_way, 20, false,
                      "one way, beyond the bare socket"});
    }
    return {};
  };
  return for_every_size(transport, measure);
}

Expected<std::vector<Row>> transport_goodput(const std::string& name,
                                             const std::string& transport) {
  const auto measure = [&](const Size& size, Wire& ours, Wire& reference,
                           std::vector<Row>& rows) -> Expected<> {
    const int count = messages_of(size.bytes, 64 << 20);
    const double bytes = static_cast<double>(count) * static_cast<double>(size.bytes);
    std::vector<double> ratios;
    std::vector<double> speeds;
    std::vector<double> processor;
    std::vector<double> bare_processor;
    for (int round = 0; round <= kTransportRounds; ++round) {
      PARETO_ASSIGN(const Stream mine, stream(ours, count));
      PARETO_ASSIGN(const Stream bare, stream(reference, count));
      if (round == 0) continue;
      ratios.push_back(bare.seconds / mine.seconds);
      speeds.push_back(bytes / mine.seconds / 1e9);
      processor.push_back(mine.processor_seconds * 1e9 / bytes);
      bare_processor.push_back(bare.processor_seconds * 1e9 / bytes);
    }
    Row row;
    row.name = name + "/" + size.name;
    row.ratio = statistics::median(ratios);
    row.at_least = true;
    if (transport == "tcp" && size.bytes >= 256 << 10) row.bar = 0.97;
    row.detail = fmt::format("{:.2f} GB/s; {:.3f} ns of CPU a byte, {} {:.3f}",
                             statistics::median(speeds), statistics::median(processor),
                             reference_of(transport), statistics::median(bare_processor));
    rows.push_back(row);
    return {};
  };
  return for_every_size(transport, measure);
}

Expected<std::vector<Row>> checksum_cost(const std::string& name, const std::string& transport) {
  PARETO_ASSIGN(const auto peer, WirePeer::start());
  std::vector<Row> rows;
  for (const Size& size : kSizes) {
    PARETO_ASSIGN(const auto with, peer->wire(transport, size.bytes, {.checksum = true}));
    PARETO_ASSIGN(const auto without, peer->wire(transport, size.bytes));
    const int count = messages_of(size.bytes, 64 << 20);
    std::vector<double> ratios;
    std::vector<double> costs;
    for (int round = 0; round <= kTransportRounds; ++round) {
      PARETO_ASSIGN(const Stream summed, stream(*with, count));
      PARETO_ASSIGN(const Stream plain, stream(*without, count));
      if (round == 0) continue;
      ratios.push_back(plain.seconds / summed.seconds);
      costs.push_back((summed.processor_seconds - plain.processor_seconds) * 1e9 /
                      (static_cast<double>(count) * static_cast<double>(size.bytes)));
    }
    Row row;
    row.name = name + "/" + size.name;
    row.ratio = statistics::median(ratios);
    row.at_least = true;
    row.detail = fmt::format("of the goodput without; {:.3f} ns of CPU a byte, both ends",
                             statistics::median(costs));
    rows.push_back(row);
  }
  return rows;
}

Expected<std::vector<Row>> grpc_over_tcp(const std::string& name) {
  constexpr std::int64_t kBytes = 4 << 20;
  constexpr int kMessages = 16;
  PARETO_ASSIGN(const auto peer, WirePeer::start());
  PARETO_ASSIGN(const auto grpc, peer->wire("grpc", kBytes));
  PARETO_ASSIGN(const auto tcp, peer->wire("tcp", kBytes));
  std::vector<double> speeds;
  std::vector<double> costs;
  std::vector<double> grpc_costs;
  std::vector<double> tcp_costs;
  for (int round = 0; round <= kTransportRounds; ++round) {
    PARETO_ASSIGN(const Stream ours, stream(*grpc, kMessages));
    PARETO_ASSIGN(const Stream reference, stream(*tcp, kMessages));
    if (round == 0) continue;
    speeds.push_back(reference.seconds / ours.seconds);
    costs.push_back(ours.processor_seconds / reference.processor_seconds);
    constexpr double kPerByte = 1e9 / (kMessages * static_cast<double>(kBytes));
    grpc_costs.push_back(ours.processor_seconds * kPerByte);
    tcp_costs.push_back(reference.processor_seconds * kPerByte);
  }
  Row cost;
  cost.name = name + "/cpu_per_byte/4MB";
  cost.ratio = statistics::median(costs);
  cost.detail = fmt::format("{:.3f} ns / {:.3f} ns, both ends", statistics::median(grpc_costs),
                            statistics::median(tcp_costs));
  return std::vector<Row>{
      {name + "/goodput/4MB", statistics::median(speeds), 0.5, true, "one-way stream"}, cost};
}

}  // namespace pareto::bench
