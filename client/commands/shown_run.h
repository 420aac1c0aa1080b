// What a sweep and the views of stored runs have in common.
#pragma once

#include <filesystem>
#include <string>

#include "client/results/record.h"

namespace pareto::client {

/// Sorts trials as a sweep shows them: by where they are cut, whole models last. They are stored in
/// the random order in which they ended.
void put_in_order(RunRecord& run);

/// Where a sweep writes its report if nobody says where: beside its results.
std::filesystem::path default_report(const std::filesystem::path& store, const std::string& run);

}  // namespace pareto::client
