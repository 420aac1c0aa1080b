// Names of pipelines for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace pareto::control {

/// Returns the id of a pipeline without the half that only its coordinator and its stages know. Who
/// knows the whole id can say hello to a stage.
constexpr std::uint64_t public_name(std::uint64_t pipeline) {
  return pipeline & 0xFFFF'FFFF'0000'0000;
}

/// Returns "3f2a90c1": the half of its id that people see.
inline std::string pipeline_name(std::uint64_t pipeline) {
  return fmt::format("{:08x}", pipeline >> 32);
}

}  // namespace pareto::control
