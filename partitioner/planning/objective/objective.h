// Objectives: the figures that plans are judged by. An objective is one row of the table in
// builtin_objectives.cc. With that row it works in `plan --also`, in the searches, in every sweep,
// on the page and in exports.
//
// Latency and throughput have no search part, because the searches have them built in: the number
// of requests in flight makes them special.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::planning {

/// Numbers that the inventory gives for a device, by key: "power" in mW, "price_per_hour" in
/// millionths of a unit of money. An objective that needs one names it.
using DeviceFigures = std::map<std::string, std::int64_t, std::less<>>;

/// The figures of one stage of a plan.
struct StageMeasurement {
  double working_ms = 0;  ///< time that the stage works for one request, in ms
  std::uint64_t memory_bytes = 0;
  DeviceFigures figures{};  ///< numbers of the stage's device
};

/// One plan's figures, measured or predicted. A latency or throughput is never quoted without its
/// window.
struct Measurement {
  double latency_p50_ms = 0;
  double latency_p90_ms = 0;
  double latency_p99_ms = 0;
  double latency_mean_ms = 0;
  int latency_window = 1;
  double throughput_per_s = 0;  ///< samples (not batches) a second
  int throughput_window = 1;
  std::int64_t batch = 1;            ///< samples of one request
  std::uint64_t boundary_bytes = 0;  ///< bytes that cross between stages for one request
  std::vector<StageMeasurement> stages{};
  /// Bytes of one request on each link, the links of the coordinator included.
  std::vector<double> wire_bytes{};
  /// True if each stage is a replica of the whole model. A request then passes one of them.
  bool replicated = false;
  /// Samples of a data set that are answered rightly, in percent; NaN means not known.
  double accuracy_percent = std::numeric_limits<double>::quiet_NaN();
};

enum class Direction { kSmallerIsBetter, kLargerIsBetter };

/// Way in which the parts of a plan make its value.
enum class Combine {
  kSum,
  kMaximum,
  kMean,  ///< mean of replicas, rounded up to a whole number
};

/// A stage, as searches know it.
struct StageView {
  std::int64_t memory_bytes = 0;
};
/// A message of one request on a link, as searches know it.
struct HopView {
  std::int64_t wire_bytes = 0;  ///< bytes after the codec, without headers
  std::int64_t loss = 0;        ///< loss of the codec, in ppm of a tensor's largest magnitude
};
/// The value of a stage that works for some time: fixed + per_nanosecond × time.
struct StageRate {
  std::int64_t fixed = 0;
  std::int64_t per_nanosecond = 0;
  bool operator==(const StageRate&) const = default;
};

/// Computes an objective for searches, before a plan has run. Values are whole numbers of at least
/// 0, so that searches compare them exactly; smaller is better.
///
/// The value of a pipeline is a sum of rates and hops over its stages and links, which lets
/// searches bound what is still to come. Or it is the maximum of `of_stage`.
struct SearchedFigure {
  /// Rule that makes one value of a pipeline's stages: kSum or kMaximum.
  Combine stages = Combine::kSum;
  Combine replicas = Combine::kMean;  ///< rule for pipelines that take turns
  /// Returns the rate of a stage on a device. With kSum only. Null means that stages add nothing.
  StageRate (*rate)(const DeviceFigures& device) = nullptr;
  /// Returns the value of a message on a link. With kSum only. Null means that messages add
  /// nothing.
  std::int64_t (*of_hop)(const HopView& hop) = nullptr;
  /// Returns the value of a stage. With kMaximum only.
  std::int64_t (*of_stage)(const StageView& stage) = nullptr;
  /// Makes the value of a plan that answers `window` requests in `latency_ns`; nothing: it is the
  /// same at every window. Must not fall if the value or the latency rises, or the window falls.
  std::int64_t (*at_window)(std::int64_t value, std::int64_t latency_ns, int window) = nullptr;
  double unit = 1;         ///< one whole number, in the objective's unit
  bool of_request = true;  ///< whether shown values are divided by the samples of a request
};

/// A number of a device that an objective needs.
struct NeededFigure {
  std::string_view key;      ///< key in the inventory: "power"
  std::string_view example;  ///< line of the inventory: "power: 5W"
  std::string_view unit;     ///< unit: "W" (then text such as 5W is read), or "" (a plain number)
  double whole = 1;          ///< whole numbers of DeviceFigures in one of the inventory's
};

/// A row of the table in builtin_objectives.cc.
struct Objective {
  std::string_view name;   ///< "latency", "throughput", "memory"
  std::string_view title;  ///< "memory of the fullest device"
  std::string_view unit;   ///< "ms", "B"
  Direction direction = Direction::kSmallerIsBetter;
  /// Reads the figure of one sample; NaN if it is not known.
  double (*read)(const Measurement& measurement) = nullptr;
  std::optional<SearchedFigure> searched{};  ///< no value means that plans are not searched by it
  std::optional<NeededFigure> needs{};
};

const std::vector<Objective>& builtin_objectives();

/// The largest number of objectives that searches may know.
inline constexpr std::size_t kMostSearched = 8;
/// Values of searched objectives.
using Values = std::array<std::int64_t, kMostSearched>;
/// Returns the rows with a search part, in the table's order. Evaluations hold their values in that
/// order.
const std::vector<const Objective*>& searched_objectives();
/// Returns the place of an objective in searched_objectives(). The objective has to be one of them.
std::size_t searched_place(const Objective& objective);

/// Finds rows by their names. Fails: kInvalidArgument with the names there are.
Expected<std::vector<const Objective*>> find_objectives(const std::vector<std::string>& names,
                                                        const std::vector<const Objective*>& among);
/// Returns all rows.
std::vector<const Objective*> all_objectives();
/// Returns the two objectives that plans are compared by unless somebody chooses others.
const std::vector<const Objective*>& latency_and_throughput();

/// Returns a searched value as it is shown: in the objective's unit, of one sample.
double shown_value(const Objective& objective, std::int64_t value, std::int64_t batch);

/// Returns the indices of the non-dominated points, ascending: no other point is at least as good
/// in every objective and better in one. Equal points all stay. A point with a NaN among its
/// figures is on no front. O(n log n) for two objectives.
std::vector<std::size_t> pareto_front(const std::vector<Measurement>& points,
                                      const std::vector<const Objective*>& objectives);
/// Returns whether a beats b.
bool dominates(const Measurement& a, const Measurement& b,
               const std::vector<const Objective*>& objectives);

}  // namespace pareto::planning
