#include "coordinator/results/run_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/results/store.h"
#include "tests/coordinator/results/store_fixture.h"
#include "tests/support/synthetic_run.h"

namespace pareto::results {
namespace {

using testing::HasSubstr;

TEST_F(Store, FindsRunsByIdBeginningAndLast) {
  const auto store = open();
  EXPECT_EQ(store->load_run("last").error().code, ErrorCode::kNotFound);
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  for (const char* id : {"20260131-101502-ab12", "20260131-101502-cd34", "20260202-080000-ef56"}) {
    run.id = id;
    put_all(*store, run);
  }
  EXPECT_EQ(store->load_run("last")->id, "20260202-080000-ef56");
  EXPECT_EQ(store->load_run("last~0")->id, "20260202-080000-ef56");
  EXPECT_EQ(store->load_run("last~1")->id, "20260131-101502-cd34");
  for (const char* none : {"last~99", "last~", "last~x", "last~-1", "lastly"}) {
    EXPECT_EQ(store->load_run(none).error().code, ErrorCode::kNotFound) << none;
  }
  EXPECT_EQ(store->load_run("20260131-101502-c")->id, "20260131-101502-cd34");
  EXPECT_EQ(store->load_run("20260131-101502-ab12")->id, "20260131-101502-ab12");
  EXPECT_EQ(store->load_run("20260131").error().code, ErrorCode::kInvalidArgument);
  const auto unknown = store->load_run("20260131-101502-ab13");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("20260131-101502-ab12"));
  EXPECT_FALSE(store->load_run("%"));
  const auto runs = store->list_runs();
  ASSERT_EQ(runs->size(), 3U);
  EXPECT_EQ(runs->front().id, "20260202-080000-ef56");
  EXPECT_EQ(runs->front().trials.size(), run.trials.size());
  EXPECT_TRUE(runs->front().trials.front().rounds.empty());
  EXPECT_FALSE(store->begin_run(run)) << "an id that is taken";
}

TEST_F(Store, TheLastRunIsThatWhichWasStoredLastWhateverTheClockSaid) {
  const auto store = open();
  put_runs(*store, {"20260131-101502-ab12", "19700101-000012-cd34", "20251231-235959-ef56"});
  EXPECT_EQ(store->load_run("last")->id, "20251231-235959-ef56");
  EXPECT_EQ(store->load_run("last~1")->id, "19700101-000012-cd34");
  EXPECT_EQ(store->list_runs()->back().id, "20260131-101502-ab12");
  // A file of before runs had numbers goes by its trials, until and after it gets a new run.
  sql("ALTER TABLE runs DROP COLUMN number");
  EXPECT_EQ(open()->load_run("last")->id, "20251231-235959-ef56");
  EXPECT_EQ(open()->load_run("last~2")->id, "20260131-101502-ab12");
  put_runs(*open(), {"19700101-000044-aa11"});
  EXPECT_EQ(open()->load_run("last")->id, "19700101-000044-aa11");
  EXPECT_EQ(open()->load_run("last~1")->id, "20251231-235959-ef56");
  // An older build gives its runs no number.
  sql("UPDATE runs SET number=0 WHERE id LIKE '1970%'");
  EXPECT_EQ(open()->load_run("last")->id, "19700101-000044-aa11");
}

TEST_F(Store, RunsAreFoundByTheirNames) {
  const auto store = open();
  RunRecord named = test::synthetic_run({.batches = {1}, .split_points = 1});
  named.id = "20260131-101502-ab12";
  named.tag = "kitchen";
  put_all(*store, named);
  put_runs(*store, {"20260202-080000-ef56"});
  EXPECT_EQ(store->load_run("kitchen")->id, named.id);
  EXPECT_EQ(store->load_run("kitchen")->tag, "kitchen");
  EXPECT_EQ(store->find_run("2026013").value(), named.id);
  for (const char* bad : {"", "last", "2026", "a b", "-a", "a/b"}) {
    EXPECT_EQ(store->check_tag(bad).error().code, ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_TRUE(store->check_tag("attic"));
  EXPECT_THAT(store->check_tag("kitchen").error().message, HasSubstr(named.id));
  named.id = "20260203-080000-aa11";
  EXPECT_FALSE(store->begin_run(named)) << "two runs of one name";
  EXPECT_FALSE(store->tag_run("20260202-080000-ef56", "kitchen"));
  ASSERT_TRUE(store->tag_run("20260131-101502-ab12", ""));
  ASSERT_TRUE(store->tag_run("20260202-080000-ef56", "kitchen"));
  EXPECT_EQ(store->load_run("kitchen")->id, "20260202-080000-ef56");
  EXPECT_EQ(store->tag_run("nobody", "x").error().code, ErrorCode::kNotFound);
  // A file of before runs had names.
  sql("ALTER TABLE runs DROP COLUMN tag");
  EXPECT_EQ(open()->load_run("kitchen").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(open()->load_run("last")->tag, "");
  ASSERT_TRUE(open()->tag_run("20260131-101502-ab12", "attic"));
  EXPECT_EQ(open()->load_run("attic")->id, "20260131-101502-ab12");
}

}  // namespace
}  // namespace pareto::results
