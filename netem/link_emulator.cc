#include "netem/link_emulator.h"

#include <array>

#include "netem/tc_emulator.h"
#include "netem/traffic_control.h"
#include "netem/user_emulator.h"

namespace pareto::netem {
namespace {

constexpr std::array<std::string_view, 3> kNames{"auto", "tc", "user"};

}  // namespace

std::string_view to_string(EmulatorKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

Expected<EmulatorKind> parse_emulator_kind(std::string_view name) {
  for (const EmulatorKind kind : {EmulatorKind::kAuto, EmulatorKind::kTc, EmulatorKind::kUser}) {
    if (name == to_string(kind)) return kind;
  }
  return fail(ErrorCode::kInvalidArgument, "no emulator \"{}\": auto, tc or user", name);
}

Expected<std::unique_ptr<LinkEmulator>> LinkEmulator::create(const LinkEnd& first,
                                                             const LinkEnd& second,
                                                             const plan::Condition& condition,
                                                             EmulatorKind kind,
                                                             std::uint64_t seed) {
  if (kind == EmulatorKind::kAuto) kind = try_tc() ? EmulatorKind::kTc : EmulatorKind::kUser;
  if (kind == EmulatorKind::kTc) return make_tc_emulator(first, second, condition);
  return make_user_emulator(first, second, condition, seed);
}

}  // namespace pareto::netem
