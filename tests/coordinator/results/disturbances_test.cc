// What disturbed a run, in words and in what a store keeps.
#include "coordinator/results/disturbances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coordinator/results/stored_json.h"

namespace pareto::results {
namespace {

using testing::IsEmpty;

RunRecord disturbed_run() {
  RunRecord run;
  run.passes.resize(3);
  run.passes[0].others = {{kThisMachine, 2, 0.81, 5.8, 30}, {"pi-1", 4, 0.02, 0.4, 30}};
  run.passes[1].others = {{kThisMachine, 2, 0.01, 2.1, 10}, {"pi-1", 4, 0.04, 0.6, 10}};
  run.passes[1].company = {{"pi-1", 1, 2}};
  run.passes[2].company = {{"pi-1", 2, 5}};
  return run;
}

TEST(Disturbances, AreMeansOfAllPassesByMachine) {
  const auto loads = foreign_load(disturbed_run());
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_NEAR(loads[0].share, 0.61, 1e-12);
  EXPECT_DOUBLE_EQ(loads[0].load, 5.8);
  EXPECT_DOUBLE_EQ(loads[0].seconds, 40);
  EXPECT_NEAR(loads[1].share, 0.025, 1e-12);
}

TEST(Disturbances, NameBusyMachinesAndCompany) {
  const auto all = disturbances(disturbed_run());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, Disturbance::Kind::kBusy);
  EXPECT_EQ(all[0].where, kThisMachine);
  EXPECT_EQ(all[0].text, "load 5.8 on 2 cores, others used 61 %: figures vary");
  EXPECT_EQ(all[1].kind, Disturbance::Kind::kCompany);
  EXPECT_EQ(all[1].where, "pi-1");
  EXPECT_EQ(all[1].text,
            "2 other coordinators ran 5 pipelines here, in 2 of 3 rounds: figures vary");
}

TEST(Disturbances, OfLoadsAloneAreBusyMachines) {
  const auto all =
      disturbances(std::vector<ForeignLoad>{{"pi-1", 4, 0.1, 0.6, 9}, {"pi-2", 4, 0.09, 0.6, 9}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].where, "pi-1");
  EXPECT_EQ(all[0].text, "load 0.6 on 4 cores, others used 10 %: figures vary");
}

TEST(Disturbances, AreNoneOfAQuietRunOrOfOneThatWasNotWatched) {
  RunRecord run = disturbed_run();
  run.passes.erase(run.passes.begin());
  for (PassRecord& pass : run.passes) pass.company.clear();
  EXPECT_THAT(disturbances(run), IsEmpty());
  EXPECT_THAT(disturbances(RunRecord{}), IsEmpty());
}

TEST(Disturbances, OfAStoredRunAreTheSame) {
  const RunRecord run = disturbed_run();
  RunRecord read;
  read.passes = passes_from_json(passes_to_json(run.passes)).value();
  EXPECT_EQ(to_json(disturbances(read)), to_json(disturbances(run)));
  EXPECT_EQ(to_json(foreign_load(read)), to_json(foreign_load(run)));
  EXPECT_EQ(to_json(company(read)), to_json(company(run)));
}

TEST(Disturbances, OfPassesOfEarlierVersionsAreNone) {
  auto passes = nlohmann::ordered_json::parse(passes_to_json(disturbed_run().passes));
  for (auto& pass : passes) {
    pass.erase("others");
    pass.erase("company");
  }
  RunRecord read;
  read.passes = passes_from_json(passes.dump()).value();
  EXPECT_THAT(disturbances(read), IsEmpty());
}

TEST(Disturbances, AreSaidInThePresentByDoctor) {
  EXPECT_EQ(load_text({kThisMachine, 2, 0.61, 5.8, 1}), "load 5.8 on 2 cores, others use 61 %");
  EXPECT_EQ(load_text({"pi", 1, 0, 0.04, 1}), "load 0.0 on 1 core, others use 0 %");
  EXPECT_EQ(company_text({"pi", 1, 1}), "another coordinator runs a pipeline here");
  EXPECT_EQ(company_text({"pi", 2, 3}), "2 other coordinators run 3 pipelines here");
}

}  // namespace
}  // namespace pareto::results
