// Activity of devices and pipelines, for people: the bottleneck in words, then devices, stages and
// links.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "client/report/report_writer.h"
#include "client/watch/activity.h"

namespace pareto::watch {

/// The order of the rows of stages.
enum class TopOrder { kPipeline, kRate, kComputing, kWait, kDevice };
/// Names of the orders as they are typed, in the order of TopOrder; the first letter of each is its
/// key.
inline constexpr std::array<std::string_view, 5> kTopOrders{"pipeline", "rate", "computing", "wait",
                                                            "device"};

struct TopStyle {
  report::ReportStyle report{};
  int rows = 0;  ///< height of the terminal; 0 = no limit
  TopOrder order = TopOrder::kPipeline;
  std::string title{};  ///< the first line
  std::string keys{};   ///< the last lines; empty: none
};

/// Returns lines, each ended by a newline, at most as many as there are rows. Lines at the end are
/// left out first; the line of keys is left out last. Without devices it returns what is shown
/// before the first have answered.
std::string top_text(const Activity& activity, const TopStyle& style);

}  // namespace pareto::watch
