// An instance laid out for dynamic programs. Costs of stages and links are arrays over the searched
// positions.
//
// The time of a stage splits into a part that depends on where it begins and one that depends on
// where it ends:
//
//   S(a, b) = before[a] + after[b]
//   before[a] = overhead + enter[a] + receive - P[a]
//   after[b] = P[b] + send
//
// So does the time of a busy device. Only stages of all operators are no such sums. They are left
// out, and looked at one by one (add_lone_devices in point_front.h).
//
// The processor time of a message may differ from link to link and codec to codec. So a device has
// an *entry* for each different array of receive times and an *exit* for each of send times, mostly
// one of each. A hop leads from an exit to an entry.
//
// Devices that may be exchanged for each other are one *kind*: they have the same costs and the
// same links to all others, except for whose medium is whose. A search counts how many of a kind it
// has used, instead of which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/search/media_roles.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::search {

/// Returns the position in a vector of what an index counts.
constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

using Times = std::vector<std::int64_t>;  ///< nanoseconds, one for each searched position

/// Times that the messages of a hop take of a shared channel.
struct MediumTimes {
  MediumRole::Of of = MediumRole::Of::kSeveral;
  int number = 0;  ///< number of the channel; see MediumRole
  Times times;
};

/// One way over one link, from a kind's exit to a kind's entry; -1 as kind: the coordinator.
struct Hop {
  int from = -1;
  int to = -1;
  int codec = 0;
  int exit = 0;   ///< number among all exits; 0 at the source
  int entry = 0;  ///< number among all entries; 0 at the sink
  /// Additions of a message to each objective searched by, for each searched position.
  std::vector<std::vector<std::int64_t>> values;
  Times occupancy;
  Times delay;
  /// Delay of what a stage sends that begins at the first position: some of it leaves early.
  Times first_delay;
  std::vector<MediumTimes> media;  ///< shared channels that its messages pass
};

/// A kind's receive or send times made part of its stages.
struct Port {
  int kind = 0;
  Times alone;  ///< times of one port: before[a] of an entry, after[b] of an exit
  Times busy;   ///< the same of a busy device: what bottlenecks are made of
};

struct Kind {
  std::vector<int> devices;  ///< devices of CostInputs; all alike
  bool may_be_first = true;
  bool may_be_last = true;
  std::vector<planning::StageRate> rates;  ///< one for each objective searched by; or zeros
  std::vector<int> entries;                ///< numbers in SearchTables::entries
  std::vector<int> exits;
  std::vector<int> hops;  ///< numbers in SearchTables::hops, those that leave it
  /// Ends of a stage by its begin, and begins by its end, as memory allows. All kinds have them if
  /// CostInputs has ends, or if a device has no room for some stages. Else they are empty: a stage
  /// may lie between any two positions.
  std::vector<std::vector<int>> ends{};
  std::vector<std::vector<int>> begins{};
  std::size_t stride = 1;  ///< difference of a usage's code when one more is used

  int count() const { return static_cast<int>(devices.size()); }
};

struct SearchTables {
  std::vector<int> positions;  ///< positions of the model that are searched: 0 … N, ascending
  std::vector<Kind> kinds;
  std::vector<Port> entries;
  std::vector<Port> exits;
  std::vector<Hop> hops;
  std::vector<int> source_hops;
  /// Usages are vectors of counts, one a kind, written as numbers of mixed radix: code = sum of
  /// count * stride. Of more than a number can tell apart the largest: check_size() refuses them.
  std::size_t usages = 1;

  int last() const { return static_cast<int>(positions.size()) - 1; }
  /// Returns whether it is a stage of all operators, which no search sees.
  bool is_all(int begin, int end) const { return begin == 0 && end == last(); }
  /// Returns whether a stage of that kind (-1: the coordinator, no stage) is the first: nothing
  /// else is used.
  bool is_first(std::size_t usage, int kind) const {
    return kind >= 0 && usage == kinds[static_cast<std::size_t>(kind)].stride;
  }
  int used(std::size_t usage, int kind) const {
    const Kind& of = kinds[static_cast<std::size_t>(kind)];
    return static_cast<int>(usage / of.stride % (static_cast<std::size_t>(of.count()) + 1));
  }
  /// Codes in an order in which every usage stands behind those it contains.
  std::vector<std::size_t> ascending_usages() const;
};

/// Lays out every `step`th legal position, and the two ends. `inputs` pass check(). `also`: the
/// objectives searched by.
SearchTables make_tables(const planning::CostInputs& inputs, const AlsoObjectives& also, int step);

/// The most bytes that the programs of a search may take.
inline constexpr double kMostTableBytes = 2.0 * (1U << 30);
/// Checks that there is room for `cell_bytes` bytes for each usage, port and position, and for all
/// lists of stages with which one program is solved. Must be called before any program is made: K
/// different devices have 2^K usages.
/// Fails: kExhausted, with the number of devices and what to leave out.
Expected<> check_size(const SearchTables& tables, std::size_t cell_bytes);

/// A stage as searches know it; and a hop to it, the last one to the sink.
struct TracedStage {
  int kind = 0;
  int begin = 0;  ///< index in SearchTables::positions
  int end = 0;
};
/// Gives every stage a device of its kind. `hops`: stages + 1.
planning::Placement to_placement(const SearchTables& tables, const std::vector<TracedStage>& stages,
                                 const std::vector<int>& hops);

}  // namespace pareto::search
