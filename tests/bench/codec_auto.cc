#include <algorithm>
#include <map>
#include <thread>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/statistics/statistics.h"
#include "core/base/text.h"
#include "core/transport/prime.h"
#include "core/wire/codec_cost.h"
#include "tests/bench/benches.h"
#include "tests/bench/boundaries.h"
#include "tests/bench/shaped_network.h"
#include "tests/bench/wire_peer.h"

namespace pareto::bench {
namespace {

using wire::CodecCost;

constexpr int kRates[] = {5, 50, 200, 1000};  // Mbit/s
constexpr double kCodecBar = 1.02;
constexpr int kCodecRounds = 3;
// Of a boundary that goes over the wire.
constexpr std::uint64_t kLargestSample = 1 << 20;
constexpr std::chrono::seconds kMostPriming{30};

/// The error that auto may make, and the names of its rows.
struct Allowance {
  const char* suffix;
  double error;
};
constexpr Allowance kAllowances[] = {{"", 0}, {"_lossy", 0.01}};

double bytes_per_second(int megabits) { return megabits * 1e6 / 8; }

/// Seconds that each codec takes across, in the order of the costs that auto decides by.
struct Crossing {
  const std::string* split = nullptr;
  const std::vector<CodecCost>* decided_by = nullptr;
  double rate = 0;  ///< rate that auto is given
  std::vector<double> seconds;
};

/// Returns the worst of auto's choices against the best codec for each.
Row worst_of(std::string name, const std::vector<Crossing>& crossings, double allowed_error) {
  Row row{std::move(name), 0, kCodecBar, false, ""};
  std::map<std::string, int> chosen;
  std::string where;
  for (const Crossing& crossing : crossings) {
    const std::vector<CodecCost>& costs = *crossing.decided_by;
    const std::string choice = cluster::choose_codec(costs, crossing.rate, allowed_error);
    ++chosen[choice];
    std::size_t best = 0;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (costs[i].codec == choice) taken = i;
      if (costs[i].error <= allowed_error && crossing.seconds[i] < crossing.seconds[best]) best = i;
    }
    const double ratio = crossing.seconds[taken] / crossing.seconds[best];
    if (ratio <= row.ratio) continue;
    row.ratio = ratio;
    where = fmt::format("{} {:.2f} ms / {} {:.2f} ms {}", choice, crossing.seconds[taken] * 1e3,
                        costs[best].codec, crossing.seconds[best] * 1e3, *crossing.split);
  }
  std::vector<std::string> counts;
  for (const auto& [codec, count] : chosen) counts.push_back(fmt::format("{} {}", count, codec));
  row.detail = fmt::format("{}, worst of {}: {}", where, crossings.size(), join(counts));
  return row;
}

void add_rows(const std::string& name, int megabits, const std::vector<Crossing>& crossings,
              std::vector<Row>& rows) {
  for (const Allowance& allowance : kAllowances) {
    rows.push_back(worst_of(fmt::format("{}{}/{}mbit", name, allowance.suffix, megabits), crossings,
                            allowance.error));
  }
}

/// Encoding and decoding in seconds, each codec's median of rounds in which all take turns: not
/// what auto decided by.
Expected<std::vector<double>> codec_seconds(const Value& values) {
  std::vector<std::vector<double>> rounds;
  for (int round = 0; round < kCodecRounds; ++round) {
    PARETO_ASSIGN(const std::vector<CodecCost> costs, wire::codec_costs(values));
    rounds.resize(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      rounds[i].push_back(to_milliseconds(costs[i].encode + costs[i].decode) / 1e3);
    }
  }
  std::vector<double> medians;
  for (const auto& samples : rounds) medians.push_back(statistics::median(samples));
  return medians;
}

std::uint64_t bytes_of(const Value& values) {
  std::uint64_t bytes = 0;
  for (const Tensor* tensor : tensors_of(values)) bytes += tensor->size_bytes();
  return bytes;
}

/// Seconds from a message to the peer's word that it has it.
Expected<double> cross(transport::Link& link, const Value& body) {
  wire::Message message;
  message.sequence = static_cast<std::uint32_t>(Order::kReport);
  message.body = body;
  const TimePoint start = std::chrono::steady_clock::now();
  PARETO_TRY(link.send(message));
  PARETO_TRY(link.receive());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

using Links = std::vector<std::unique_ptr<transport::Link>>;

/// Returns a connection for each codec, none first; primed, as a deployment does it.
Expected<Links> codec_links(ShapedNetwork& network, double rate) {
  std::vector<const wire::Codec*> codecs{nullptr};
  codecs.insert(codecs.end(), wire::builtin_codecs().begin(), wire::builtin_codecs().end());
  // What passes in a tenth of a second is as much as a slow link needs.
  const auto bytes = std::min(kLargestSample, static_cast<std::uint64_t>(rate / 10));
  Links links;
  for (const wire::Codec* const codec : codecs) {
    PARETO_ASSIGN(auto link, network.connect(codec));
    PARETO_TRY(transport::prime(*link, 0, bytes, transport::PingWay::kThere,
                                std::chrono::steady_clock::now() + kMostPriming));
    links.push_back(std::move(link));
  }
  return links;
}

/// Returns each codec's median over the wire, all taking turns.
Expected<std::vector<double>> wire_seconds(const Links& links, const Value& values) {
  std::vector<std::vector<double>> samples(links.size());
  for (int round = 0; round < kCodecRounds; ++round) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      PARETO_ASSIGN(const double empty, cross(*links[i], Value(None{})));
      PARETO_ASSIGN(const double full, cross(*links[i], values));
      samples[i].push_back(full - empty);
    }
  }
  std::vector<double> medians;
  for (const auto& of_codec : samples) medians.push_back(statistics::median(of_codec));
  return medians;
}

/// Returns a few boundaries of no more than a megabyte, evenly spread.
std::vector<const Boundary*> sample_of(const std::vector<Boundary>& boundaries) {
  constexpr std::size_t kSample = 4;
  std::vector<const Boundary*> small;
  for (const Boundary& boundary : boundaries) {
    if (bytes_of(boundary.values) <= kLargestSample) small.push_back(&boundary);
  }
  std::vector<const Boundary*> sample;
  for (std::size_t i = 0; i < kSample && i < small.size(); ++i) {
    sample.push_back(small[i * small.size() / kSample]);
  }
  return sample;
}

Expected<std::vector<Row>> over_the_wire(const std::string& name,
                                         const std::vector<Boundary>& boundaries) {
  PARETO_ASSIGN(const auto network, ShapedNetwork::make());
  const std::vector<const Boundary*> sample = sample_of(boundaries);
  std::vector<Row> rows;
  for (const int megabits : kRates) {
    PARETO_TRY(network->shape(megabits));
    PARETO_ASSIGN(const double rate, network->measured_rate());
    std::vector<std::vector<CodecCost>> costs;
    for (const Boundary* const boundary : sample) {
      PARETO_ASSIGN(auto measured, wire::codec_costs(boundary->values));
      costs.push_back(std::move(measured));
    }
    PARETO_ASSIGN(const Links links, codec_links(*network, rate));
    std::vector<Crossing> crossings;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      PARETO_ASSIGN(std::vector<double> seconds, wire_seconds(links, sample[i]->values));
      crossings.push_back({&sample[i]->split, &costs[i], rate, std::move(seconds)});
    }
    add_rows(name, megabits, crossings, rows);
    rows.push_back({fmt::format("link_rate/{}mbit", megabits), rate / bytes_per_second(megabits),
                    std::nullopt, false,
                    fmt::format("{:.2f} MB/s measured by a daemon", rate / 1e6)});
  }
  return rows;
}

}  // namespace

Expected<std::vector<Row>> codec_auto(const std::string& name, const std::string& model) {
  PARETO_ASSIGN(const std::vector<Boundary> boundaries, module_boundaries(model));
  std::vector<std::vector<CodecCost>> costs;
  std::vector<std::vector<double>> in_codecs;
  for (const Boundary& boundary : boundaries) {
    PARETO_ASSIGN(auto measured, wire::codec_costs(boundary.values));
    PARETO_ASSIGN(auto judged, codec_seconds(boundary.values));
    costs.push_back(std::move(measured));
    in_codecs.push_back(std::move(judged));
  }
  std::vector<Row> rows;
  for (const int megabits : kRates) {
    const double rate = bytes_per_second(megabits);
    std::vector<Crossing> crossings;
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      Crossing& crossing =
          crossings.emplace_back(Crossing{&boundaries[i].split, &costs[i], rate, in_codecs[i]});
      for (std::size_t codec = 0; codec < costs[i].size(); ++codec) {
        crossing.seconds[codec] += static_cast<double>(costs[i][codec].bytes) / rate;
      }
    }
    add_rows(name, megabits, crossings, rows);
  }
  return rows;
}

Expected<std::vector<Row>> codec_auto_wire(const std::string& name, const std::string& model) {
  PARETO_ASSIGN(const std::vector<Boundary> boundaries, module_boundaries(model));
  Expected<std::vector<Row>> rows;
  // The thread enters a network namespace and cannot come back.
  std::jthread([&] { rows = over_the_wire(name, boundaries); }).join();
  return rows;
}

}  // namespace pareto::bench
