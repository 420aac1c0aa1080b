#include "coordinator/cluster/testbed_registry.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace pareto::cluster {
namespace {

using ::testing::HasSubstr;

class Registry : public testing::Test {
 protected:
  static RunningTestbed example(int process) {
    return {
        .name = "field",
        .process = process,
        .content = "abc",
        .network = "none",
        .emulator = "user",
        .devices = {{"pi-1", "pi4", "10.0.0.1:70", "/proc/1/ns/net", 7, 0.2, "/times", 1 << 30}},
        .links = {{"pi-1", "switch", "none"}}};
  }

  TemporaryFolder folder_ = TemporaryFolder::create("testbed-registry-test").value();
  TestbedRegistry registry_{folder_.path() / "testbed"};
};

TEST_F(Registry, KnowsWhatIsUp) {
  EXPECT_TRUE(registry_.all().value().empty());
  {
    const auto claim = registry_.claim("field").value();
    ASSERT_TRUE(claim);
    EXPECT_EQ(registry_.find("field").value(), std::nullopt) << "on its way";
    EXPECT_EQ(registry_.claim("field").value(), std::nullopt) << "taken";
    ASSERT_TRUE(registry_.claim("other").value());
    ASSERT_TRUE(claim->publish(example(::getpid())));
    const auto bed = registry_.find("field").value();
    ASSERT_TRUE(bed);
    EXPECT_EQ(bed->process, ::getpid());
    ASSERT_EQ(bed->devices.size(), 1U);
    EXPECT_EQ(bed->devices[0].control, "10.0.0.1:70");
    EXPECT_EQ(bed->devices[0].speed, 0.2);
    EXPECT_EQ(bed->devices[0].steady, "/times");
    EXPECT_EQ(bed->links[0].second, "switch");
    EXPECT_EQ(registry_.all().value().size(), 1U);
  }
  EXPECT_EQ(registry_.find("field").value(), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "testbed"));
}

TEST_F(Registry, RepairsWhatAKilledProcessLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = registry_.claim("field").value();
    static_cast<void>(claim->publish(example(::getpid())));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(std::filesystem::exists(folder_.path() / "testbed" / "field" / "testbed.json"));
  EXPECT_EQ(registry_.find("field").value(), std::nullopt);
  EXPECT_TRUE(registry_.claim("other").value());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "testbed" / "field"));
}

TEST_F(Registry, EndsTheProcessThatHoldsOne) {
  int up[2];
  ASSERT_EQ(::pipe(up), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = registry_.claim("field").value();
    static_cast<void>(claim->publish(example(::getpid())));
    (void)!::write(up[1], "x", 1);
    ::alarm(60);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(up[0], &byte, 1), 1);
  EXPECT_EQ(registry_.end("field").value(), true);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(registry_.end("field").value(), false);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "testbed"));
}

TEST_F(Registry, TakesNoOtherFolderForATestBed) {
  std::filesystem::create_directories(folder_.path() / "testbed");
  std::filesystem::create_directory(folder_.path() / "precious");
  EXPECT_EQ(registry_.end("../precious").value(), false);
  EXPECT_EQ(registry_.find("../precious").value(), std::nullopt);
  EXPECT_EQ(registry_.end("..").value(), false);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "precious"));
}

TEST_F(Registry, FollowsNoLinkOutOfItsFolder) {
  namespace fs = std::filesystem;
  const fs::path precious = folder_.path() / "precious";
  fs::create_directories(folder_.path() / "testbed");
  fs::create_directory(precious);
  fs::permissions(precious, fs::perms(0755));
  fs::create_directory_symlink(precious, folder_.path() / "testbed" / "field");
  EXPECT_EQ(registry_.find("field").value(), std::nullopt);
  const auto claim = registry_.claim("field");
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(claim.error().message, HasSubstr("field: Not a directory"));
  EXPECT_EQ(fs::status(precious).permissions(), fs::perms(0755));
}

TEST_F(Registry, BelievesNobodyElsesFolders) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a folder away needs root";
  constexpr uid_t kNobody = 65534;
  const auto refused = [](const auto& result) {
    EXPECT_FALSE(result);
    return !result && result.error().code == ErrorCode::kPermission;
  };
  const auto claim = registry_.claim("field").value();
  ASSERT_TRUE(claim->publish(example(::getpid())));
  for (const auto& folder : {folder_.path() / "testbed" / "field", folder_.path() / "testbed"}) {
    ASSERT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
    EXPECT_TRUE(refused(registry_.find("field"))) << folder;
    EXPECT_TRUE(refused(registry_.end("field"))) << folder;
    EXPECT_TRUE(refused(registry_.all())) << folder;
    EXPECT_TRUE(refused(registry_.claim("field"))) << folder;
    ASSERT_EQ(::chown(folder.c_str(), ::geteuid(), ::getegid()), 0);
  }
  EXPECT_TRUE(registry_.find("field").value());
}

TEST_F(Registry, SaysWhichDescriptionIsCorrupt) {
  const auto claim = registry_.claim("field").value();
  for (const char* text : {"", "{", "[]", "{\"name\": 1}"}) {
    std::ofstream(folder_.path() / "testbed" / "field" / "testbed.json") << text;
    const auto bed = registry_.find("field");
    ASSERT_FALSE(bed);
    EXPECT_EQ(bed.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(bed.error().message, HasSubstr("testbed.json"));
  }
}

}  // namespace
}  // namespace pareto::cluster
