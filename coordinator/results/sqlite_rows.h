// Runs and trials as rows of the store's tables (schema.h).
#pragma once

#include <string>

#include "coordinator/results/record.h"

namespace SQLite {
class Statement;
}

namespace pareto::results {

/// Returns an "INSERT … ON CONFLICT DO UPDATE": a trial that is measured again keeps its place.
std::string upsert_trial();
/// Gives upsert_trial() all values but :run. Throws SQLite::Exception.
void bind_trial(SQLite::Statement& statement, const TrialRecord& trial);

/// Returns the columns that trial_from() reads. Details, which are nearly all that a trial takes,
/// are not among them.
std::string columns_without_details();
/// Reads the row that a query of those columns, or of all, stands at. Throws SQLite::Exception.
TrialRecord trial_from(SQLite::Statement& row);

/// Reads a row of the table of runs, without the run's trials. RunRecord::damage says what cannot
/// be read. Throws SQLite::Exception.
RunRecord run_from(SQLite::Statement& row);

}  // namespace pareto::results
