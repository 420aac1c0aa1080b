// The systemd unit, as systemd's own tools see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/file.h"
#include "tests/support/process.h"

namespace pareto {
namespace {

using test::Finished;
using test::run;
using testing::HasSubstr;

constexpr const char* kAnalyze = "/usr/bin/systemd-analyze";

class Unit : public testing::Test {
 protected:
  Unit() : folder_(TemporaryFolder::create("unit").value()) {
    text_ = read_file(PARETO_SOURCE_DIR "/deploy/systemd/paretod.service").value();
  }
  void SetUp() override {
    if (!std::filesystem::exists(kAnalyze)) GTEST_SKIP() << "no systemd here";
  }

  /// Returns a copy that starts the program of this build, which is not installed.
  std::string unit(const std::string& more = "") const {
    std::string text = text_;
    const std::string installed = "/usr/bin/paretod";
    text.replace(text.find(installed), installed.size(), PARETO_BIN_DIR "/paretod");
    const std::string install = "[Install]";
    text.insert(text.find(install), more);
    std::string path = folder_.path() / "paretod.service";
    std::ofstream(path) << text;
    return path;
  }
  /// Verifies a unit without the manual page, which is made when the package is.
  Finished verify(const std::string& unit) const {
    return run({kAnalyze, "verify", "--man=no", "--recursive-errors=no", unit});
  }
  static double exposure(const std::string& unit) {
    const Finished done = run({kAnalyze, "security", "--offline=true", "--no-pager", unit});
    const std::string label = "exposure level for paretod.service: ";
    const std::size_t at = done.output.find(label);
    EXPECT_NE(at, std::string::npos) << done.output << done.errors;
    return at == std::string::npos ? 10 : std::atof(done.output.c_str() + at + label.size());
  }

  TemporaryFolder folder_;
  std::string text_;
};

TEST_F(Unit, SystemdHasNothingToSayAboutIt) {
  const Finished done = verify(unit());
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.output + done.errors, "");
}

TEST_F(Unit, AKeyThatSystemdDoesNotKnowWouldBeSeen) {
  const Finished done = verify(unit("ProtectEverything=yes\n"));
  EXPECT_THAT(done.output + done.errors, HasSubstr("ProtectEverything"));
}

TEST_F(Unit, LittleIsExposed) {
  const double bare = exposure(unit("CapabilityBoundingSet=~\nPrivateDevices=no\n"));
  const double shipped = exposure(unit());
  EXPECT_GT(shipped, 0);
  EXPECT_LE(shipped, 2.0);
  EXPECT_GT(bare, shipped);
}

}  // namespace
}  // namespace pareto
