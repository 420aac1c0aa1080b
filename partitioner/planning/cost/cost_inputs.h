// What a prediction is made from: what every position takes on every device, and what every link does to a message. Plain values, filled
// from device profiles and conditions, read by evaluate() and by partitioner/planning/search.
//
// All times are whole nanoseconds: sums and maxima of them are exact, and so is the comparison of two plans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {

/// What one message takes on a link.
struct LinkTimes {
  Nanoseconds occupancy{};  ///< of the link
  Nanoseconds delay{};      ///< of the message; another may be under way meanwhile
  Nanoseconds send{};       ///< of the sending stage: encoding and processor time
  Nanoseconds receive{};

  Nanoseconds whole() const { return occupancy + delay + send + receive; }  ///< of a lone message
  bool operator==(const LinkTimes&) const = default;
};

/// A message of so many bytes on the wire, measured; `times` without its codec.
struct LinkPoint {
  std::int64_t bytes = 0;
  LinkTimes times;

  bool operator==(const LinkPoint&) const = default;
};

/// What a codec makes of a boundary.
struct CodecFigures {
  double bytes_factor = 1;        ///< bytes on the wire for one byte of the boundary
  double encode_ns_per_byte = 0;  ///< of the boundary's bytes, on the device that sends
  double decode_ns_per_byte = 0;  ///< … and on the one that receives
  std::int64_t loss = 0;          ///< of accuracy, in any unit; those of a plan's links add up

  bool operator==(const CodecFigures&) const = default;
};

/// A way to send what crosses a link: a codec, and a transport where the link can have several.
struct LinkCodec {
  std::string name = "none";
  CodecFigures figures{};
  /// N + 1, one for each position, in place of `figures`: what follows a ReLU is made smaller than what does not; or empty.
  std::vector<CodecFigures> by_position{};
  std::string transport{};  ///< for whoever makes a plan of it; not read here
  /// In place of all times of the link, as LinkCosts::measured; empty: those of the link.
  std::vector<LinkPoint> measured{};

  const CodecFigures& figures_at(int position) const {
    return by_position.empty() ? figures : by_position[static_cast<std::size_t>(position)];
  }
};

/// A Wi-Fi channel, a network card: what several links share the time of.
struct MediumUse {
  int medium = 0;
  double share = 1;  ///< of its link's occupancy, above 0: a message passes a faster one in less

  Nanoseconds time(Nanoseconds occupancy) const {
    return share == 1 ? occupancy : from_nanoseconds(share * to_nanoseconds(occupancy));
  }
  bool operator==(const MediumUse&) const = default;
};

/// One direction of a link. The default is a link that takes no time.
struct LinkCosts {
  bool usable = true;           ///< else no plan sends anything that way
  double bytes_per_second = 0;  ///< 0: bytes take no time
  Nanoseconds delay{};          ///< of every message; another may be under way meanwhile
  Nanoseconds message{};        ///< that a message occupies the link beyond its bytes: headers
  Nanoseconds send{};           ///< of processor time for a message, on the device that sends
  Nanoseconds receive{};        ///< … and on the one that receives
  double send_ns_per_byte = 0;
  double receive_ns_per_byte = 0;
  std::vector<MediumUse> media{};   ///< that a message passes, each once; a slowest with share 1
  std::vector<LinkCodec> codecs{};  ///< of which a plan takes one; empty: the default LinkCodec
  /// By ascending bytes, in place of all times above: what lies between two points is interpolated, beyond the last one goes on as between
  /// the last two. No connection is as simple as a rate and a delay: windows open, small messages are paced.
  std::vector<LinkPoint> measured{};
};

/// What stages take on a device, without their links. Positions of the model are 0 … N; operators (or segments) lie between them.
struct StageCosts {
  std::vector<Nanoseconds> compute;  ///< N + 1 prefix sums: what runs before each position; from 0
  Nanoseconds overhead{};            ///< of a stage for each message, beyond its operators
  /// N + 1, what beginning at a position adds to the operators after it, or empty: what engines no longer fuse or keep laid out. That of
  /// ending at one is part of the prefix sums.
  std::vector<Nanoseconds> enter{};
  /// Of all operators as one stage, overhead included, where that is no sum of its parts: shards that are smaller stay in a cache, and a
  /// device that works alone shares memory with none.
  std::optional<Nanoseconds> whole{};

  /// Of a stage of the operators [begin, end).
  Nanoseconds time(int begin, int end) const {
    const auto first = static_cast<std::size_t>(begin);
    const auto last = static_cast<std::size_t>(end);
    if (whole && begin == 0 && last + 1 == compute.size()) return *whole;
    return overhead + (enter.empty() ? Nanoseconds{} : enter[first]) + compute[last] -
           compute[first];
  }
  bool operator==(const StageCosts&) const = default;
};

/// A weight of several operators that a cut may part: each stage that runs one of them holds it.
struct SharedWeight {
  std::int64_t bytes = 0;
  /// N + 1 prefix sums: how many of those operators run before each position.
  std::vector<int> uses;

  bool operator==(const SharedWeight&) const = default;
};

/// A value that crosses where a stage ends, made before the stage is done: it is on its way while others are computed.
struct EarlyValue {
  std::int64_t bytes = 0;
  Nanoseconds lead{};  ///< from then on to the end of the stage

  bool operator==(const EarlyValue&) const = default;
};

/// One device. What it inherits is what stages take of a request that is alone in the pipeline: it finds them asleep, and their caches cold.
struct DeviceCosts : StageCosts {
  std::string name;
  /// From one message to the next when they follow each other, all devices at work; none: as alone.
  std::optional<StageCosts> busy{};
  /// What a stage takes of memory: its operators' weights (N + 1 prefix sums, each weight where it is used first), those of them that an
  /// operator before the stage uses too, and for what crosses where it begins and where it ends what stands there (N + 1). Empty: not
  /// modelled.
  std::vector<std::int64_t> weight_bytes{};
  std::vector<SharedWeight> shared_weights{};
  std::vector<std::int64_t> crossing_bytes{};
  /// N + 1: of what crosses each position that which leaves a stage early that begins at 0, in the order it is made; or empty: nothing. Of
  /// later stages nothing is known: what they only hand on they have to receive first.
  std::vector<std::vector<EarlyValue>> early{};
  std::int64_t memory_limit_bytes = INT64_MAX;  ///< of a stage
  /// Positions between which there was no room for all: no stage holds both sides of such a pair.
  std::vector<std::pair<int, int>> too_large{};
  DeviceFigures figures{};   ///< that objectives need: its power, its price
  bool may_be_first = true;  ///< a pinned first device is the only one with this
  bool may_be_last = true;
  /// What the device took of consecutive messages while it was busy, in the order measured; only their ratios count; empty: not known. For
  /// partitioner/planning/cost/replay.h alone: searches do not see it.
  std::vector<double> jitter{};

  const StageCosts& when_busy() const { return busy ? *busy : *this; }
};

struct CostInputs {
  /// N + 1: what crosses each position; at 0 the model's inputs, at N its outputs.
  std::vector<std::int64_t> boundary_bytes;
  std::vector<bool> legal;  ///< N + 1: where the model may be cut; 0 and N are read as true
  std::vector<DeviceCosts> devices;
  /// [from][to], the last row and column the coordinator: source of what the first device gets, sink of what the last one sends.
  std::vector<std::vector<LinkCosts>> links;
  /// For each position, those at which a stage that begins there may end, ascending; N + 1 rows, of which the last is empty. No rows: all
  /// that come after it, as in a chain of operators. Rows are there where positions are sets of operators (partitioner/planning/search/ideals.h):
  /// of two sets a stage lies between only if one contains the other. Prefix sums are then sums over the sets.
  std::vector<std::vector<int>> ends{};
  int media = 0;                            ///< how many LinkCosts::media refer to
  std::vector<std::string> medium_names{};  ///< for whoever shows them; or none; not read here

  int positions() const { return static_cast<int>(boundary_bytes.size()) - 1; }  ///< N
  int coordinator() const { return static_cast<int>(devices.size()); }
  const LinkCosts& link(int from, int to) const {
    return links[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  std::int64_t boundary(int position) const {
    return boundary_bytes[static_cast<std::size_t>(position)];
  }
  /// Whether a stage may lie between these positions.
  bool may_lie(int begin, int end) const {
    return begin < end &&
           (ends.empty() || std::ranges::binary_search(ends[static_cast<std::size_t>(begin)], end));
  }
  bool may_cut(int position) const {
    return position == 0 || position == positions() || legal[static_cast<std::size_t>(position)];
  }
};

/// Whether sizes fit each other, prefix sums ascend, and nothing is negative or so large that sums of it would not
/// be exact: an hour on a link, four minutes in a processor, a kilowatt. Fails: kInvalidArgument naming the device or link.
Expected<> check(const CostInputs& inputs);

/// What the boundary of a position takes on a link by one of its codecs: `codec` counts link.codecs; 0 where there are none.
LinkTimes link_times(const LinkCosts& link, int codec, int position, std::int64_t boundary_bytes);
/// The same of a message that the stage of [begin, position) on device `from` sends (or the coordinator, at 0): where a part of it leaves
/// early it is under way while the stage still computes, and the delay is less by that; it may be below 0, together with the occupancy it
/// is not.
LinkTimes crossing_times(const CostInputs& inputs, int from, int to, int codec, int begin,
                         int position);
/// How many codecs a plan chooses from, at least 1.
int codec_count(const LinkCosts& link);
/// What one of them makes of the boundary of a position.
const CodecFigures& codec_figures(const LinkCosts& link, int codec, int position);

/// Whether its memory limit and what it was seen to have no room for leave a device a stage of the operators [begin, end).
bool has_room(const CostInputs& inputs, const DeviceCosts& device, int begin, int end);

/// Of a stage of the operators [begin, end): all its weights, and what crosses where it begins and ends. Not a matter of how long it is: a
/// longer one may end where less crosses.
std::int64_t stage_memory_bytes(const DeviceCosts& device, int begin, int end);

}  // namespace pareto::planning
