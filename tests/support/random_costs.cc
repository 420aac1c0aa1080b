#include "tests/support/random_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pareto::test {

using planning::CodecFigures;
using planning::CostInputs;
using planning::DeviceCosts;
using planning::LinkCodec;
using planning::LinkCosts;
using planning::LinkPoint;
using planning::Placement;
using planning::SharedWeight;
using planning::StageCosts;

namespace {

bool chance(double share, std::mt19937_64& random) {
  return std::uniform_real_distribution<>(0, 1)(random) < share;
}

int up_to(int most, std::mt19937_64& random) {
  return std::uniform_int_distribution<>(0, most)(random);
}

Nanoseconds time_up_to(int most, std::mt19937_64& random) {
  // Every fifth takes no time.
  return Nanoseconds(chance(0.2, random) ? 0 : up_to(most, random));
}

void fill_stages(StageCosts& costs, const RandomCosts& options, std::mt19937_64& random) {
  costs.compute.emplace_back(0);
  for (int i = 0; i < options.positions; ++i) {
    costs.compute.push_back(costs.compute.back() + time_up_to(options.largest_time, random));
  }
  costs.overhead = time_up_to(options.largest_time / 4, random);
  if (chance(0.5, random)) {
    for (int i = 0; i <= options.positions; ++i) {
      costs.enter.push_back(time_up_to(options.largest_time / 4, random));
    }
  }
  if (chance(0.5, random)) {
    costs.whole = time_up_to(options.largest_time * options.positions, random);
  }
}

/// Adds a shared weight to every third operator or so.
void add_shared_weight(const RandomCosts& options, std::mt19937_64& random, DeviceCosts& device) {
  SharedWeight weight{up_to(300, random), {0}};
  for (int i = 0; i < options.positions; ++i) {
    weight.uses.push_back(weight.uses.back() + (chance(0.3, random) ? 1 : 0));
  }
  for (std::size_t i = 0; i < weight.uses.size(); ++i) {
    if (weight.uses[i] > 0) device.weight_bytes[i] += weight.bytes;
  }
  device.shared_weights.push_back(std::move(weight));
}

DeviceCosts random_device(const RandomCosts& options, std::mt19937_64& random) {
  DeviceCosts device;
  fill_stages(device, options, random);
  if (chance(0.5, random)) fill_stages(device.busy.emplace(), options, random);
  device.weight_bytes.push_back(0);
  for (int i = 0; i < options.positions; ++i) {
    device.weight_bytes.push_back(device.weight_bytes.back() + up_to(100, random));
  }
  if (options.shared > 0 && chance(options.shared, random)) {
    add_shared_weight(options, random, device);
  }
  for (int i = 0; i <= options.positions; ++i) {
    device.crossing_bytes.push_back(up_to(200, random));
  }
  if (chance(options.limited, random)) {
    device.memory_limit_bytes = 100 + up_to(static_cast<int>(device.weight_bytes.back()), random);
  }
  if (chance(options.limited / 2, random)) {
    const int begin = up_to(options.positions - 1, random);
    device.too_large.emplace_back(begin, begin + 1 + up_to(options.positions - begin - 1, random));
  }
  const std::int64_t power = up_to(20, random);
  device.figures = {{"power", power}, {"price_per_hour", 1000 * ((power * 7 + 3) % 20)}};
  return device;
}

std::vector<LinkPoint> random_points(const RandomCosts& options, std::mt19937_64& random) {
  std::vector<LinkPoint> points;
  std::int64_t bytes = 0;
  for (int i = 0; i < 3; ++i) {
    bytes += 1 + up_to(options.largest_time / 20, random);
    const auto time = [&] { return time_up_to(options.largest_time / 4, random); };
    points.push_back({bytes, {time(), time(), time(), time()}});
  }
  return points;
}

CodecFigures random_figures(std::mt19937_64& random) {
  return {0.25 * up_to(4, random), 0.1 * up_to(20, random), 0.1 * up_to(20, random),
          up_to(5, random)};
}

/// Returns a codec that is the same everywhere, one that depends on what crosses, or another
/// transport with or without either.
LinkCodec random_codec(const RandomCosts& options, std::mt19937_64& random) {
  LinkCodec codec{"small", random_figures(random)};
  if (chance(0.5, random)) {
    for (int p = 0; p <= options.positions; ++p) {
      codec.by_position.push_back(random_figures(random));
    }
  }
  if (chance(0.5, random)) {
    codec.transport = "other";
    codec.measured = random_points(options, random);
    if (chance(0.5, random)) {
      codec.figures = {};
      codec.by_position.clear();
    }
  }
  return codec;
}

LinkCosts random_link(const RandomCosts& options, std::mt19937_64& random) {
  LinkCosts link;
  link.usable = !chance(options.missing, random);
  if (chance(0.9, random)) link.bytes_per_second = 1e8 * (1 + up_to(20, random));
  link.delay = time_up_to(options.largest_time * options.delays, random);
  link.message = time_up_to(options.largest_time / 8, random);
  if (chance(options.processor, random)) {
    link.send = time_up_to(options.largest_time / 8, random);
    link.receive = time_up_to(options.largest_time / 8, random);
    link.send_ns_per_byte = up_to(4, random);
    link.receive_ns_per_byte = up_to(4, random);
  }
  if (chance(options.measured, random)) link.measured = random_points(options, random);
  if (chance(options.codecs, random)) {
    link.codecs = {{}, random_codec(options, random)};
    if (chance(options.codecs, random)) link.codecs.push_back(random_codec(options, random));
  }
  for (int passes = options.media > 1 ? 2 : options.media; passes > 0; --passes) {
    const int medium = up_to(options.media, random) - 1;
    if (medium < 0 || (!link.media.empty() && link.media.front().medium == medium)) continue;
    const bool slowest = link.media.empty() || chance(0.5, random);
    link.media.push_back({medium, slowest ? 1 : 0.1 * (1 + up_to(8, random))});
  }
  return link;
}

/// Media that all links of one device pass.
void add_cards(const RandomCosts& options, std::mt19937_64& random, CostInputs& inputs) {
  const double share = chance(0.5, random) ? 1 : 0.7;
  for (std::size_t device = 0; device < inputs.devices.size(); ++device) {
    if (!chance(options.cards, random)) continue;
    const int card = inputs.media++;
    for (std::size_t other = 0; other < inputs.links.size(); ++other) {
      if (other == device) continue;
      for (LinkCosts* const link : {&inputs.links[device][other], &inputs.links[other][device]}) {
        link->media.push_back({card, link->media.empty() ? 1 : share});
      }
    }
  }
}

/// Up to two values that leave before the others, at every position.
void add_early_values(const RandomCosts& options, const std::vector<std::int64_t>& boundary_bytes,
                      std::mt19937_64& random, DeviceCosts& device) {
  for (const std::int64_t bytes : boundary_bytes) {
    auto& early = device.early.emplace_back();
    for (std::int64_t left = bytes, values = up_to(2, random); values > 0; --values) {
      const std::int64_t some = up_to(static_cast<int>(left), random);
      early.push_back({some, time_up_to(options.largest_time, random)});
      left -= some;
    }
    std::ranges::sort(early, std::ranges::greater{}, &planning::EarlyValue::lead);
  }
}

/// Makes device `to` like device `from`, with links alike on all sides.
void copy_device(CostInputs& inputs, std::size_t from, std::size_t to) {
  inputs.devices[to] = inputs.devices[from];
  for (std::size_t other = 0; other < inputs.links.size(); ++other) {
    inputs.links[to][other] = inputs.links[from][other];
    inputs.links[other][to] = inputs.links[other][from];
  }
  inputs.links[from][to] = inputs.links[to][from] = inputs.links[from][from];
}

/// Makes a pipeline over some of the devices; evaluate() may not take it.
Placement random_pipeline(const CostInputs& inputs, std::mt19937_64& random) {
  std::vector<int> devices(inputs.devices.size());
  std::iota(devices.begin(), devices.end(), 0);
  std::ranges::shuffle(devices, random);
  Placement placement;
  int begin = 0;
  for (std::size_t i = 0; i < devices.size() && begin < inputs.positions(); ++i) {
    const bool last = i + 1 == devices.size() || chance(1.0 / 3, random);
    const int end =
        last ? inputs.positions() : begin + 1 + up_to(inputs.positions() - begin - 1, random);
    placement.stages.push_back({devices[i], begin, end});
    begin = end;
  }
  int from = inputs.coordinator();
  for (std::size_t i = 0; i <= placement.stages.size(); ++i) {
    const int to = i == placement.stages.size() ? inputs.coordinator() : placement.stages[i].device;
    placement.codecs.push_back(up_to(planning::codec_count(inputs.link(from, to)) - 1, random));
    from = to;
  }
  return placement;
}

}  // namespace

CostInputs random_costs(const RandomCosts& options, std::mt19937_64& random) {
  CostInputs inputs;
  inputs.media = options.media;
  for (int p = 0; p <= options.positions; ++p) {
    inputs.boundary_bytes.push_back(up_to(options.largest_time / 10, random));
    inputs.legal.push_back(!chance(options.illegal, random));
  }
  const auto devices = static_cast<std::size_t>(options.devices);
  for (std::size_t i = 0; i < devices; ++i) {
    inputs.devices.push_back(random_device(options, random));
    if (chance(0.3, random)) {
      add_early_values(options, inputs.boundary_bytes, random, inputs.devices.back());
    }
  }
  inputs.links.resize(devices + 1);
  for (auto& row : inputs.links) {
    for (std::size_t i = 0; i <= devices; ++i) row.push_back(random_link(options, random));
  }
  for (std::size_t i = 1; i < devices; ++i) {
    if (chance(options.identical, random)) copy_device(inputs, 0, i);
  }
  add_cards(options, random, inputs);
  if (chance(options.pinned, random)) {
    const auto first = static_cast<std::size_t>(up_to(options.devices - 1, random));
    for (std::size_t i = 0; i < devices; ++i) inputs.devices[i].may_be_first = i == first;
  }
  if (chance(options.pinned, random)) {
    const auto last = static_cast<std::size_t>(up_to(options.devices - 1, random));
    for (std::size_t i = 0; i < devices; ++i) inputs.devices[i].may_be_last = i == last;
  }
  return inputs;
}

RandomCosts random_options(std::mt19937_64& random, int most_devices, int most_positions,
                           int least_positions) {
  constexpr double kShares[] = {0, 0, 0.4, 1};
  const auto share = [&] { return kShares[up_to(3, random)]; };
  RandomCosts options;
  options.devices = 2 + up_to(most_devices - 2, random);
  options.positions = least_positions + up_to(most_positions - least_positions, random);
  options.illegal = chance(0.5, random) ? 0 : 0.3;
  options.limited = share();
  options.pinned = chance(0.7, random) ? 0 : 1;
  options.identical = share();
  options.processor = share();
  options.measured = share();
  options.missing = chance(0.8, random) ? 0 : 0.2;
  options.delays = chance(0.7, random) ? 1 : 20;
  options.largest_time = chance(0.3, random) ? 10 : chance(0.5, random) ? 100 : 100'000;
  return options;
}

PlacedCosts random_placed_costs(std::mt19937_64& random) {
  for (;;) {
    RandomCosts options = random_options(random, 4, 12);
    options.media = up_to(2, random);
    options.cards = chance(0.5, random) ? 0.5 : 0;
    PlacedCosts made{random_costs(options, random), {}};
    for (auto& row : made.inputs.links) {
      for (LinkCosts& link : row) {
        if (link.media.size() > 2) link.media.resize(2);
        if (!link.media.empty()) link.message += Nanoseconds(up_to(2999, random));
      }
    }
    made.placement = random_pipeline(made.inputs, random);
    if (planning::evaluate(made.inputs, made.placement)) return made;
  }
}

CostInputs model_like_costs(int devices, int positions, std::uint64_t seed, Nanoseconds delay) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<> unit(0, 1);
  CostInputs inputs;
  std::vector<double> operators;
  for (int i = 0; i < positions; ++i) {
    operators.push_back(100e6 / positions * std::exp(1.2 * std::normal_distribution<>()(random)));
  }
  for (int p = 0; p <= positions; ++p) {
    const double along = static_cast<double>(p) / positions;
    inputs.boundary_bytes.push_back(
        static_cast<std::int64_t>(600e3 * std::exp(-3 * along) * (0.2 + unit(random))));
    inputs.legal.push_back(true);
  }
  for (int d = 0; d < devices; ++d) {
    DeviceCosts device;
    device.compute.emplace_back(0);
    device.weight_bytes.push_back(0);
    const double slowness = std::exp(1.5 * unit(random));
    for (const double time : operators) {
      const double here = time * slowness * (2.0 / 3 + unit(random) * 2 / 3);
      device.compute.push_back(device.compute.back() + Nanoseconds(std::llround(here)));
      device.weight_bytes.push_back(device.weight_bytes.back() + up_to(100'000, random));
    }
    device.overhead = Nanoseconds(50'000 + up_to(50'000, random));
    // Only lone requests wake stages.
    device.busy.emplace().compute = device.compute;
    device.figures = {{"power", 1000 + up_to(9000, random)}, {"price_per_hour", 50'000}};
    inputs.devices.push_back(std::move(device));
  }
  inputs.links.resize(inputs.devices.size() + 1);
  for (auto& row : inputs.links) {
    for (int i = 0; i <= devices; ++i) {
      LinkCosts link;
      link.bytes_per_second = 1e6 / 8 * 50 * std::exp(3 * unit(random));
      link.delay = Nanoseconds(up_to(static_cast<int>(delay.count()), random));
      link.message = Nanoseconds(up_to(20'000, random));
      row.push_back(std::move(link));
    }
  }
  return inputs;
}

}  // namespace pareto::test
