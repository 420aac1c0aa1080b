// Words for a profile that was measured while others were at work on its device's machine.
#pragma once

#include <string>

#include "core/plan/device_profile.h"

namespace pareto::profile {

/// Returns whether others used so much of its machine that predictions made of it may be far off.
bool is_doubted(const plan::DeviceProfile& profile);
/// Returns "others used 46 % of its machine"; "" if they used little, or nobody knows.
std::string others_text(const plan::DeviceProfile& profile);
/// Returns what those who rely on a kept profile should know, and the remedy; "" if nothing.
std::string doubt_text(const plan::DeviceProfile& profile);

}  // namespace pareto::profile
