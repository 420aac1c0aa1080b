// The inputs of a prediction: what every position takes on every device, and what every link does
// to a message. They are plain values, filled from device profiles and conditions. evaluate() and
// partitioner/planning/search read them.
//
// All times are whole nanoseconds. Their sums and maxima are exact, and so is the comparison of two
// plans.
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

/// The times of one message on a link.
struct LinkTimes {
  Nanoseconds occupancy{};  ///< occupancy of the link, in ns
  Nanoseconds delay{};      ///< delay of the message, in ns; another may be under way meanwhile
  Nanoseconds send{};       ///< time of the sending stage, in ns: encoding and processor time
  Nanoseconds receive{};    ///< time of the receiving stage, in ns

  /// Returns the time of a lone message.
  Nanoseconds whole() const { return occupancy + delay + send + receive; }
  bool operator==(const LinkTimes&) const = default;
};

/// A measured message of `bytes` on the wire. `times` are without its codec.
struct LinkPoint {
  std::int64_t bytes = 0;
  LinkTimes times;

  bool operator==(const LinkPoint&) const = default;
};

/// The effect of a codec on a boundary.
struct CodecFigures {
  double bytes_factor = 1;        ///< bytes on the wire for one byte of the boundary
  double encode_ns_per_byte = 0;  ///< time for a byte of the boundary, on the device that sends
  double decode_ns_per_byte = 0;  ///< time for a byte of the boundary, on the device that receives
  std::int64_t loss = 0;  ///< loss of accuracy, in any unit; losses of a plan's links add up

  bool operator==(const CodecFigures&) const = default;
};

/// A way to send what crosses a link: a codec, and a transport if the link can have several.
struct LinkCodec {
  std::string name = "none";
  CodecFigures figures{};
  /// Figures for each position, N + 1, in place of `figures`; or empty. A codec makes what follows
  /// a ReLU smaller than what does not.
  std::vector<CodecFigures> by_position{};
  /// Transport, for the code that makes a plan of this. It is not read here.
  std::string transport{};
  /// Points in place of all times of the link, like LinkCosts::measured. Empty means those of the
  /// link.
  std::vector<LinkPoint> measured{};

  const CodecFigures& figures_at(int position) const {
    return by_position.empty() ? figures : by_position[static_cast<std::size_t>(position)];
  }
};

/// A link's use of a shared channel, whose time several links share: a Wi-Fi channel, a network
/// card.
struct MediumUse {
  int medium = 0;  ///< number of the channel, less than CostInputs::media
  /// Share of the link's occupancy that a message takes of the channel, above 0 and up to 1. A
  /// message passes a faster channel in less time.
  double share = 1;

  Nanoseconds time(Nanoseconds occupancy) const {
    return share == 1 ? occupancy : from_nanoseconds(share * to_nanoseconds(occupancy));
  }
  bool operator==(const MediumUse&) const = default;
};

/// One direction of a link. The default is a link that takes no time.
struct LinkCosts {
  bool usable = true;           ///< false means that no plan sends anything that way
  double bytes_per_second = 0;  ///< rate; 0 means that bytes take no time
  Nanoseconds delay{};    ///< delay of every message, in ns; another may be under way meanwhile
  Nanoseconds message{};  ///< occupancy by a message beyond its bytes, in ns: headers
  Nanoseconds send{};     ///< processor time for a message, in ns, on the device that sends
  Nanoseconds receive{};  ///< processor time for a message, in ns, on the device that receives
  double send_ns_per_byte = 0;
  double receive_ns_per_byte = 0;
  /// Shared channels that a message passes, each once. The slowest has share 1.
  std::vector<MediumUse> media{};
  /// Codecs, of which a plan takes one. Empty means the default LinkCodec.
  std::vector<LinkCodec> codecs{};
  /// Points by ascending bytes, in place of all times above. Times between two points are
  /// interpolated. Beyond the last point they go on as between the last two. No connection is as
  /// simple as a rate and a delay: windows open, small messages are paced.
  std::vector<LinkPoint> measured{};
};

/// Times of stages on a device, without their links. Positions of the model are 0 … N; operators
/// (or segments) lie between them.
struct StageCosts {
  /// Prefix sums, N + 1, from 0: time of what runs before each position, in ns.
  std::vector<Nanoseconds> compute;
  Nanoseconds overhead{};  ///< time of a stage for each message beyond its operators, in ns
  /// Time that beginning at a position adds to the operators after it, in ns, N + 1; or empty.
  /// Engines fuse fewer operators then, and keep fewer laid out. The time that ending at a position
  /// adds is part of the prefix sums.
  std::vector<Nanoseconds> enter{};
  /// Time of all operators as one stage, overhead included, in ns, if it is no sum of its parts.
  /// Smaller shards stay in a cache, and a device that works alone shares memory with none.
  std::optional<Nanoseconds> whole{};

  /// Returns the time of a stage of the operators [begin, end).
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

/// A value that crosses where a stage ends and is made before the stage is done. It is on its way
/// while others are computed.
struct EarlyValue {
  std::int64_t bytes = 0;
  Nanoseconds lead{};  ///< time from when it is made to the end of the stage, in ns

  bool operator==(const EarlyValue&) const = default;
};

/// One device. The inherited times are those of a request that is alone in the pipeline: it finds
/// stages asleep, and their caches cold.
struct DeviceCosts : StageCosts {
  std::string name;
  /// Times from one message to the next when they follow each other and all devices are at work. No
  /// value means that they are as alone.
  std::optional<StageCosts> busy{};
  /// Weights of operators, in bytes: N + 1 prefix sums, each weight where it is used first. The
  /// memory of a stage is the sum of this part and the next two. An empty part is not modelled.
  std::vector<std::int64_t> weight_bytes{};
  /// Weights that an operator before a stage may use too. The stage then holds them again.
  std::vector<SharedWeight> shared_weights{};
  /// Memory of a stage for what crosses where it begins or ends, in bytes: N + 1, by position.
  std::vector<std::int64_t> crossing_bytes{};
  /// Values that leave a stage early, of those that cross each position, in the order they are
  /// made: N + 1 rows. Empty means nothing. Only stages that begin at 0 have any. Nothing is known
  /// of later stages, which first have to receive what they only hand on.
  std::vector<std::vector<EarlyValue>> early{};
  std::int64_t memory_limit_bytes = INT64_MAX;  ///< largest memory of a stage, in bytes
  /// Pairs of positions between which there was no room for all operators. No stage holds both
  /// sides of such a pair.
  std::vector<std::pair<int, int>> too_large{};
  DeviceFigures figures{};  ///< numbers that objectives need: the device's power, its price
  /// True if the device may have the first stage. A pinned first device is the only one that may.
  bool may_be_first = true;
  bool may_be_last = true;
  /// Factors of what the device took for consecutive messages while it was busy, in the order
  /// measured. Only their ratios count. Empty means that they are not known. Only
  /// partitioner/planning/cost/replay.h reads them: searches do not see them.
  std::vector<double> jitter{};

  const StageCosts& when_busy() const { return busy ? *busy : *this; }
};

struct CostInputs {
  /// Size of what crosses each position, in bytes, N + 1: at 0 the model's inputs, at N its
  /// outputs.
  std::vector<std::int64_t> boundary_bytes;
  std::vector<bool> legal;  ///< flags, N + 1: where the model may be cut; 0 and N are read as true
  std::vector<DeviceCosts> devices;
  /// Links as [from][to]. The last row and column are the coordinator's. It is the source of what
  /// the first device gets, and the sink of what the last one sends.
  std::vector<std::vector<LinkCosts>> links;
  /// Positions at which a stage may end, ascending, for each position where it may begin: N + 1
  /// rows, of which the last is empty. No rows means all later positions, as in a chain of
  /// operators.
  ///
  /// Rows are there if positions are sets of operators (partitioner/planning/search/ideals.h). A
  /// stage lies between two sets only if one contains the other. Prefix sums are then sums over the
  /// sets.
  std::vector<std::vector<int>> ends{};
  int media = 0;  ///< number of shared channels that LinkCosts::media refer to
  /// Names of the shared channels, for the code that shows them; or empty. They are not read here.
  std::vector<std::string> medium_names{};

  /// Returns N, the last position.
  int positions() const { return static_cast<int>(boundary_bytes.size()) - 1; }
  int coordinator() const { return static_cast<int>(devices.size()); }
  const LinkCosts& link(int from, int to) const {
    return links[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  std::int64_t boundary(int position) const {
    return boundary_bytes[static_cast<std::size_t>(position)];
  }
  /// Returns whether a stage may lie between these positions.
  bool may_lie(int begin, int end) const {
    return begin < end &&
           (ends.empty() || std::ranges::binary_search(ends[static_cast<std::size_t>(begin)], end));
  }
  bool may_cut(int position) const {
    return position == 0 || position == positions() || legal[static_cast<std::size_t>(position)];
  }
};

/// Checks that sizes fit each other, prefix sums ascend, and nothing is negative. Nothing may be so
/// large that sums of it would not be exact: an hour on a link, four minutes in a processor, a
/// kilowatt. Fails: kInvalidArgument naming the device or link.
Expected<> check(const CostInputs& inputs);

/// Returns the times of the boundary of a position on a link, by one of its codecs. `codec` is an
/// index of link.codecs, or 0 if there are none.
LinkTimes link_times(const LinkCosts& link, int codec, int position, std::int64_t boundary_bytes);
/// Returns the times of a message that the stage of [begin, position) on device `from` sends, or
/// that the coordinator sends at 0. If a part of the message leaves early, it is under way while
/// the stage still computes, and the delay is less by that time. The delay may be below 0;
/// the sum of delay and occupancy is not.
LinkTimes crossing_times(const CostInputs& inputs, int from, int to, int codec, int begin,
                         int position);
/// Returns the number of codecs that a plan chooses from, at least 1.
int codec_count(const LinkCosts& link);
/// Returns the effect of one codec on the boundary of a position.
const CodecFigures& codec_figures(const LinkCosts& link, int codec, int position);

/// Returns whether a device has room for a stage of the operators [begin, end). Its memory limit
/// counts, and the operators that it was seen to have no room for.
bool has_room(const CostInputs& inputs, const DeviceCosts& device, int begin, int end);

/// Returns the memory of a stage of the operators [begin, end), in bytes: all its weights, and what
/// crosses where it begins and ends. A longer stage may need less, because it may end where less
/// crosses.
std::int64_t stage_memory_bytes(const DeviceCosts& device, int begin, int end);

}  // namespace pareto::planning
