#include "coordinator/profile/profile_doubt.h"

#include <fmt/format.h>

#include "coordinator/results/disturbances.h"

namespace pareto::profile {

bool is_doubted(const plan::DeviceProfile& profile) {
  return profile.others_share && *profile.others_share >= results::kBusyShare;
}

std::string others_text(const plan::DeviceProfile& profile) {
  if (!is_doubted(profile)) return "";
  return fmt::format("others used {:.0f} % of its machine", 100 * *profile.others_share);
}

std::string doubt_text(const plan::DeviceProfile& profile) {
  const std::string others = others_text(profile);
  if (others.empty()) return "";
  return fmt::format(
      "profile of {}: measured {}, when {}: predictions may be far off; on a quiet machine, plan "
      "or profile with --fresh measures it again",
      profile.device, profile.measured, others);
}

}  // namespace pareto::profile
