// Made-up instances for searches: small ones that have everything that may go wrong, and large ones
// that look like models on devices.
#pragma once

#include <cstdint>
#include <random>

#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::test {

struct RandomCosts {
  int devices = 3;
  int positions = 12;
  double illegal = 0.2;  ///< share of the positions that may not be cut
  double limited = 0;    ///< share of the devices that have too little memory for the model
  double shared = 0;     ///< share of devices with a weight of several operators
  double pinned = 0;     ///< share of instances with a pinned first, or last, device
  double identical = 0;  ///< share of the devices that are like the first
  double processor = 0;  ///< share of links that take processor time for messages
  double measured = 0;   ///< share of links known by measured points
  double codecs =
      0;  ///< share of links with a second codec or transport, and of those with a third
  double missing = 0;       ///< share of links that are not usable
  int media = 0;            ///< each link may pass one of them, and another
  double cards = 0;         ///< share of devices with a medium of their own
  int delays = 1;           ///< how many times longer than other times they may be: many windows
  int largest_time = 1000;  ///< small numbers make ties, and many times are 0
};
/// Returns options of that many devices and positions, usual otherwise.
inline RandomCosts sized_costs(int devices, int positions) {
  RandomCosts options;
  options.devices = devices;
  options.positions = positions;
  return options;
}

planning::CostInputs random_costs(const RandomCosts& options, std::mt19937_64& random);
/// Returns options that have some of everything, for `random_costs`: 2 to `most_devices` devices,
/// at least 3 positions.
RandomCosts random_options(std::mt19937_64& random, int most_devices, int most_positions,
                           int least_positions = 3);

/// A pipeline over some of the devices of such costs; evaluate() takes it.
struct PlacedCosts {
  planning::CostInputs inputs;
  planning::Placement placement;
};
/// Returns costs of all kinds, for up to four devices; media are slow enough to matter, and
/// messages pass two at most.
PlacedCosts random_placed_costs(std::mt19937_64& random);

/// Returns devices of different speeds, each operator's time off by up to a third on each;
/// boundaries that shrink along the model; links of 50 to 1000 Mbit/s with delays up to `delay`. In
/// whole nanoseconds, so that hardly two sums are equal.
planning::CostInputs model_like_costs(int devices, int positions, std::uint64_t seed,
                                      Nanoseconds delay = std::chrono::milliseconds(2));

}  // namespace pareto::test
