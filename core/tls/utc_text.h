// Times of certificates as people read them.
#pragma once

#include <chrono>
#include <string>

namespace pareto::tls {

/// Returns "2026-12-01 08:30 UTC".
std::string utc_text(std::chrono::sys_seconds time);

}  // namespace pareto::tls
