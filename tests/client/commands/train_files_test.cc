#include "client/commands/train_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace pareto::client::commands {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TrainFileFlags, AreThoseOfTheCheckpointUnlessNamed) {
  const train::TrainingFiles earlier{.checkpoint_every = 2,
                                     .keep = 9,
                                     .outputs = {"/a/m.pt", "/a/m.pth"},
                                     .csv = "/a/m.csv",
                                     .report = "/a/m.html"};
  TrainFileFlags none_named;
  EXPECT_THAT(none_named.complete(earlier),
              ElementsAre("--checkpoint-every 2", "--keep 9", "--output /a/m.pt,/a/m.pth",
                          "--csv /a/m.csv", "--report /a/m.html"));
  EXPECT_EQ(none_named.kept(), earlier);
  TrainFileFlags named;
  named.every = 0;
  named.outputs = {"b.pth"};
  named.csv = "b.csv";
  EXPECT_THAT(named.complete(earlier), ElementsAre("--keep 9", "--report /a/m.html"));
  const train::TrainingFiles kept = named.kept();
  EXPECT_EQ(kept.checkpoint_every, 0);
  EXPECT_THAT(kept.outputs, ElementsAre((std::filesystem::current_path() / "b.pth").string()));
  EXPECT_EQ(kept.csv, (std::filesystem::current_path() / "b.csv").string());
}

TEST(TrainFileFlags, AreTheUsualOnesIfNobodyNamedThem) {
  TrainFileFlags flags;
  EXPECT_THAT(flags.complete({}), IsEmpty());
  EXPECT_EQ(flags.kept(), train::TrainingFiles());
}

}  // namespace
}  // namespace pareto::client::commands
