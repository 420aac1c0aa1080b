// A results file in a folder of its own, for tests.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>

#include "coordinator/results/record_json.h"
#include "coordinator/results/store.h"
#include "coordinator/results/stored_json.h"
#include "core/base/file.h"
#include "tests/support/synthetic_run.h"

namespace pareto::results {

class Store : public testing::Test {
 protected:
  Store() : folder_(TemporaryFolder::create("store").value()) {}
  std::filesystem::path path() const { return folder_.path() / "sub" / "results.db"; }
  std::unique_ptr<ResultStore> open() const {
    auto store = ResultStore::open(path());
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
  /// Returns one SQL statement by another connection; its first column as text.
  std::string sql(const std::string& statement) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    std::string first;
    const auto keep_first = [](void* out, int columns, char** values, char** /*names*/) {
      if (columns > 0 && values[0] != nullptr) *static_cast<std::string*>(out) = values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, statement.c_str(), keep_first, &first, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return first;
  }

  TemporaryFolder folder_;
};

/// Returns everything of a trial, samples included, as one text.
inline std::string whole(const TrialRecord& trial) {
  return dump(to_json(trial)) + details_to_json(trial);
}

inline void put_all(ResultStore& store, const RunRecord& run) {
  ASSERT_TRUE(store.begin_run(run));
  for (const TrialRecord& trial : run.trials) ASSERT_TRUE(store.put_trial(run, trial));
  ASSERT_TRUE(store.update_run(run));
}

/// Stores runs of these ids, in this order.
inline void put_runs(ResultStore& store, std::initializer_list<const char*> ids) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  for (const char* id : ids) {
    run.id = id;
    put_all(store, run);
  }
}

}  // namespace pareto::results
