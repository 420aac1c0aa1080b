// The report's page, with another run to compare with.
#pragma once

#include <string>

#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::report {

/// Returns the page that the writer "html" makes. `other` is a run that the page lays over this
/// one; null means none. Fails: kInternal.
Expected<std::string> report_page(const results::RunRecord& run, const results::RunRecord* other);

}  // namespace pareto::report
