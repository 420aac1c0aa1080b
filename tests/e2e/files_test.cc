// Models from files, as torchvision and people write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;

class Files : public EndToEnd {
 protected:
  void SetUp() override {
    const auto made =
        run({"/usr/bin/python3", std::string(PARETO_SOURCE_DIR) + "/tests/e2e/make_models.py",
             folder().string()});
    ASSERT_EQ(made.exit_code, 0) << "python3-torchvision is needed: " << made.errors;
  }

  void expect_verified(const std::string& model, const std::string& shape) {
    const auto done = paretoctl({"verify", "--model", path(model), "--input-shape", shape,
                                 "--engine", "plain", "--batch", "3", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  }

  void expect_swept(const std::string& model, const std::string& shape) {
    const auto done =
        paretoctl({"sweep", "--model", path(model), "--input-shape", shape, "--splits",
                   "percent:30,percent:60", "--transport", "tcp", "--rounds", "1", "--requests",
                   "3", "--store", path("results.db"), "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.errors;
    const json run = json::parse(done.output);
    for (const json& trial : run["trials"]) {
      EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    }
  }
};

TEST_F(Files, ScriptedSwin) {
  expect_verified("swin.pt", "3x64x64");
  expect_swept("swin.pt", "3x64x64");
}

TEST_F(Files, TracedSwin) {
  expect_verified("swin_traced.pt", "3x64x64");
  expect_swept("swin_traced.pt", "3x64x64");
}

TEST_F(Files, TwoInputsABranchAndADictOfOutputs) {
  expect_verified("structured.pt", "6;scalar:int64");
  expect_swept("structured.pt", "6;scalar:int64");
}

TEST_F(Files, ACorruptFileIsRefusedWhereverItBreaks) {
  const auto original = path("swin.pt");
  const auto size = std::filesystem::file_size(original);
  for (const auto kept : {size / 2, size - 1, std::uintmax_t{100}}) {
    std::filesystem::copy_file(original, path("cut.pt"),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path("cut.pt"), kept);
    const auto done = paretoctl({"splits", "--model", path("cut.pt"), "--input-shape", "3x64x64"});
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_THAT(done.errors, testing::HasSubstr("cut.pt"));
  }
}

}  // namespace
}  // namespace pareto::test
