// Answers of a running deployment on its socket, to good questions and bad ones.
#include "client/commands/deploy_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "client/commands/runtime_folder.h"
#include "core/base/file.h"

namespace pareto::client::commands {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::chrono::seconds kSoon{30};

class DeployControlTest : public testing::Test, public ControlledDeployment {
 protected:
  nlohmann::ordered_json describe() const override { return {{"name", "camera"}, {"pid", 12}}; }
  Expected<nlohmann::ordered_json> resplit(const nlohmann::json& question) override {
    if (question.contains("split")) return nlohmann::ordered_json{{"epoch", 2}};
    return fail(ErrorCode::kExhausted, "no room");
  }
  /// Says a line to a deployment. Returns its answer.
  nlohmann::json answer_to(const std::string& line) const {
    auto peer = cluster::connect_at(file_, kMostControlBytes);
    EXPECT_TRUE(peer);
    EXPECT_TRUE(peer->send(line));
    const auto answer = peer->receive(deadline_after(kSoon));
    EXPECT_TRUE(answer && *answer);
    return nlohmann::json::parse(answer && *answer ? **answer : "{}");
  }

  const TemporaryFolder folder_ = TemporaryFolder::create("pareto-sockets").value();
  const fs::path runtime_ = folder_.path() / "runtime";
  const fs::path file_ = control_file(runtime_, 12);
};

TEST_F(DeployControlTest, FoldersAreThoseOfTheUser) {
  EXPECT_EQ(runtime_folder("/run/of/me", 7), "/run/of/me/pareto-edge");
  const fs::path other = runtime_folder(nullptr, 987654);
  EXPECT_EQ(other, "/tmp/pareto-edge-987654");
  EXPECT_EQ(runtime_folder("", 987654), other);
}

TEST_F(DeployControlTest, AFolderThatOthersMayEnterIsRefused) {
  ASSERT_TRUE(make_private_folder(runtime_));
  ASSERT_TRUE(make_private_folder(runtime_)) << "it is there";
  ASSERT_EQ(::chmod(runtime_.c_str(), 0750), 0);
  const auto refused = make_private_folder(runtime_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message, HasSubstr("XDG_RUNTIME_DIR"));
  ASSERT_EQ(::chmod(runtime_.c_str(), 0700), 0);
  // Nor is a link to one that is private.
  const fs::path link = folder_.path() / "link";
  fs::create_symlink(runtime_, link);
  EXPECT_FALSE(make_private_folder(link));
}

TEST_F(DeployControlTest, ADeploymentAnswersLinesOfJson) {
  {
    const auto control = DeployControl::open(file_, *this);
    ASSERT_TRUE(control) << control.error().message;
    struct stat status {};
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    EXPECT_EQ(answer_to(R"({"ask":"describe"})")["name"], "camera");
    for (const char* bad : {"", "[]", "{", "{\"ask\":7}", "\x01\xff", "{\"ask\":\"else\"}"}) {
      EXPECT_TRUE(answer_to(bad).contains("error")) << bad;
    }
    const std::string deep(100'000, '[');
    EXPECT_TRUE(answer_to(deep).contains("error"));
    const auto found = find_deployments(runtime_).answering;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].description["pid"], 12);
    const auto done = ask_to_resplit(file_, {{"ask", "resplit"}, {"split", "a"}}, -1);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ((*done)["epoch"], 2);
    const auto refused = ask_to_resplit(file_, {{"ask", "resplit"}}, -1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
    EXPECT_EQ(refused.error().message, "no room");
  }
  EXPECT_FALSE(fs::exists(file_)) << "its file goes with it";
  EXPECT_FALSE(cluster::connect_at(file_));
  EXPECT_TRUE(find_deployments(folder_.path() / "absent").answering.empty());
}

TEST_F(DeployControlTest, ALineThatIsTooLongIsRefused) {
  const auto control = DeployControl::open(file_, *this);
  ASSERT_TRUE(control);
  auto peer = cluster::connect_at(file_, kMostControlBytes);
  ASSERT_TRUE(peer);
  // It is not read to its end.
  static_cast<void>(peer->send(std::string(kMostControlBytes + 100'000, 'x')));
  const auto answer = peer->receive(deadline_after(kSoon));
  if (answer && *answer) {
    EXPECT_THAT(**answer, HasSubstr("a line of more than"));
  }
  EXPECT_EQ(answer_to(R"({"ask":"describe"})")["pid"], 12) << "it goes on";
}

TEST_F(DeployControlTest, AnotherFileThatIsLeftIsReplaced) {
  ASSERT_TRUE(make_private_folder(runtime_));
  std::ofstream(file_) << "left by a process that was killed";
  const auto control = DeployControl::open(file_, *this);
  ASSERT_TRUE(control);
  EXPECT_EQ(answer_to(R"({"ask":"describe"})")["pid"], 12);
}

}  // namespace
}  // namespace pareto::client::commands
