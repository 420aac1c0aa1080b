// The addresses by which others may reach this machine.
#pragma once

#include <string>
#include <vector>

namespace pareto::enrolment {

/// Returns the numeric addresses of this machine's interfaces, without those of loopback or of one
/// link only. First comes the one from which this machine speaks to others. No packet is sent to
/// find it.
std::vector<std::string> own_addresses();

}  // namespace pareto::enrolment
