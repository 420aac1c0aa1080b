#include "client/report/schedule/schedule_colours.h"

#include <array>

namespace pareto::report::schedule {

std::string_view strong_colour(std::size_t number) {
  constexpr std::array<std::string_view, 10> kColours{"#1f6feb", "#c2560c", "#12866b", "#7c4dd6",
                                                      "#b83280", "#7d6c00", "#0f7f86", "#c2362b",
                                                      "#4a5d8f", "#5f7d1c"};
  return kColours[number % kColours.size()];
}

std::string_view pale_colour(std::size_t number) {
  constexpr std::array<std::string_view, 10> kColours{"#dbe8fd", "#fbe3d2", "#d3efe7", "#e7defa",
                                                      "#f7d9ea", "#f1ecc9", "#d2eef0", "#fadcd9",
                                                      "#dfe4f0", "#e5efd0"};
  return kColours[number % kColours.size()];
}

}  // namespace pareto::report::schedule
