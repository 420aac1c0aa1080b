// The files of client/report/assets and the chart library, embedded at build time
// (client/report/assets/CMakeLists.txt).
#pragma once

#include <string_view>

namespace pareto::report {

std::string_view report_html();  ///< the template, with {{names}} to be filled
std::string_view report_css();
std::string_view report_scripts();  ///< scripts of the page, in the order that they need
/// The page of a model's picture, its style sheet and its scripts.
std::string_view report_graph_html();
std::string_view report_graph_css();
std::string_view report_graph_scripts();
std::string_view report_echarts();  ///< Apache-2.0; its licence stands at its head

}  // namespace pareto::report
