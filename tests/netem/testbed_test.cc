// The documents of test beds, and what limits an imitated device.
#include "netem/testbed.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <utility>

#include "core/base/control_group.h"
#include "core/base/file.h"
#include "netem/emulated_pair.h"
#include "netem/link_measurement.h"
#include "netem/resource_group.h"
#include "netem/testbed_network.h"

namespace pareto::netem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Files : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    std::ofstream(path) << text;
    return path.string();
  }
  std::string error_of(const std::string& text) const {
    const auto bed = read_testbed(write("bed.yaml", text));
    return bed ? "" : bed.error().message;
  }

  TemporaryFolder folder_ = TemporaryFolder::create("testbed-test").value();
};

TEST_F(Files, AreReadWithTheirPresetsAndNetworks) {
  write("slow.yaml", "delay: 20ms\n");
  const Testbed bed =
      read_testbed(write("field.yaml",
                         "network: slow.yaml\n"
                         "devices:\n"
                         "  - {name: pi-1, preset: pi4, memory: 2GiB}\n"
                         "  - {name: b, speed: 0.5, steady: b.times, threads: 2, network: none}\n"
                         "  - {name: c}\n"))
          .value();
  EXPECT_EQ(bed.name, "field");
  EXPECT_EQ(bed.topology, Topology::kChain);
  ASSERT_EQ(bed.devices.size(), 3U);
  EXPECT_GT(bed.devices[0].speed, 0);
  EXPECT_EQ(bed.devices[0].memory_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(bed.devices[1].speed, 0.5);
  EXPECT_EQ(bed.devices[1].steady, (folder_.path() / "b.times").string());
  EXPECT_EQ(bed.devices[0].steady, "");
  EXPECT_EQ(bed.devices[1].threads, 2);
  EXPECT_EQ(bed.devices[2].speed, 0);
  ASSERT_EQ(bed.links.size(), 2U);
  EXPECT_THAT(bed.links[0].network, testing::EndsWith("/slow.yaml"));
  EXPECT_EQ(bed.links[0].condition.forward.delay, std::chrono::milliseconds(20));
  EXPECT_EQ(bed.links[1].network, "none");
  EXPECT_EQ(bed.common_network(), "");
}

TEST_F(Files, NameNetworksAsTheyNamePresets) {
  const Testbed bed =
      read_testbed(write("field.yaml", "network: wifi\ndevices: [{name: a}, {name: b}]\n")).value();
  EXPECT_EQ(bed.common_network(), "wifi");
  EXPECT_EQ(bed.links[0].condition.forward.delay, std::chrono::milliseconds(3));
  EXPECT_THAT(error_of("network: wfi\ndevices: [{name: a}, {name: b}]\n"),
              AllOf(HasSubstr("bed.yaml"), HasSubstr("did you mean wifi")));
}

TEST_F(Files, HaveALinkForEachDeviceOfAStar) {
  const Testbed bed =
      read_testbed(write("bed.yaml", "name: x\ntopology: star\ndevices: [{name: a}, {name: b}]\n"))
          .value();
  EXPECT_EQ(bed.name, "x");
  EXPECT_EQ(bed.links.size(), 2U);
  EXPECT_EQ(bed.common_network(), "none");
}

TEST_F(Files, TellApartWhatTheyWereMadeOf) {
  write("slow.yaml", "delay: 20ms\n");
  const std::string file =
      write("bed.yaml", "network: slow.yaml\ndevices: [{name: a}, {name: b}]\n");
  const std::string before = read_testbed(file).value().content;
  EXPECT_EQ(read_testbed(file).value().content, before);
  write("slow.yaml", "delay: 30ms\n");
  EXPECT_NE(read_testbed(file).value().content, before);
}

TEST_F(Files, AreRefusedWithAllThatIsWrong) {
  EXPECT_THAT(error_of("devices: []\n"), HasSubstr("0 devices, not 1 to 64"));
  EXPECT_THAT(error_of("devices: [{name: ../x}]\n"), HasSubstr("letters, digits"));
  EXPECT_THAT(error_of("name: a/b\ndevices: [{name: a}]\n"), HasSubstr("letters, digits"));
  EXPECT_THAT(error_of("devices: [{name: a}, {name: a}]\n"), HasSubstr("called so as well"));
  EXPECT_THAT(error_of("devices: [{name: a, preset: pi3}]\n"),
              AllOf(HasSubstr("pi4, pi5"), HasSubstr("bed.yaml:1")));
  EXPECT_THAT(error_of("devices: [{name: a, speed: 0.01}]\n"), HasSubstr("0.1 to 64"));
  EXPECT_THAT(error_of("devices: [{name: a, memory: 1MiB}]\n"), HasSubstr("256 MiB"));
  EXPECT_THAT(error_of("devices: [{name: a, threads: 0}]\n"), HasSubstr("1 to 64"));
  EXPECT_THAT(error_of("devices: [{name: a, disk: 1KiB}]\n"), HasSubstr("1.00 MiB to 16.0 GiB"));
  EXPECT_THAT(error_of("emulator: magic\ndevices: [{name: a}]\n"), HasSubstr("auto, tc, user"));
  EXPECT_THAT(error_of("topology: ring\ndevices: [{name: a}]\n"), HasSubstr("chain, star"));
  EXPECT_THAT(error_of("devices: [{name: a}, {name: b, network: none}]\n"),
              HasSubstr("this is the last one"));
  EXPECT_THAT(error_of("network: gone.yaml\ndevices: [{name: a}, {name: b}]\n"),
              HasSubstr("gone.yaml"));
  EXPECT_THAT(error_of("device: [{name: a}]\n"), HasSubstr("devices"));
}

TEST(Samples, AreAllValid) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PARETO_SOURCE_DIR "/configs/testbed")) {
    const auto bed = read_testbed(entry.path());
    EXPECT_TRUE(bed) << bed.error().message;
    ++count;
  }
  EXPECT_GE(count, 3);
}

/// Returns whether anything of "pareto-edge/NAME" is left to be seen.
bool group_exists(const std::string& name) {
  const auto tree = find_controller("memory");
  return tree && std::filesystem::exists(tree->root / "pareto-edge" / name);
}

/// A child that uses a processor until it is ended.
class BusyChild {
 public:
  BusyChild() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::alarm(60);
    for (std::atomic<int> i = 0;; ++i) {
    }
  }
  ~BusyChild() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  /// Waits for its end, which somebody else brings about.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  BusyChild(const BusyChild&) = delete;
  BusyChild& operator=(const BusyChild&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class Groups : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "control groups need root";
    const auto made = ResourceGroup::create(name_ + "/probe", std::uint64_t{1} << 30);
    if (!made) GTEST_SKIP() << "no control groups for this test: " << made.error().message;
  }
  std::string name_ = "test-" + std::to_string(::getpid());
};

TEST_F(Groups, EndWithTheirObjectAndWhatIsInThem) {
  BusyChild child;
  {
    auto group = ResourceGroup::create(name_ + "/a", std::uint64_t{1} << 30).value();
    ASSERT_TRUE(group.add(child.pid()));
    EXPECT_TRUE(group_exists(name_ + "/a"));
  }
  EXPECT_FALSE(group_exists(name_));
  EXPECT_TRUE(WIFSIGNALED(child.wait()));
}

TEST_F(Groups, LeftBehindAreFoundByTheirName) {
  const BusyChild child;
  const pid_t maker = ::fork();
  if (maker == 0) {
    auto group = ResourceGroup::create(name_ + "/a", std::uint64_t{1} << 30).value();
    ::_exit(group.add(child.pid()) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(maker, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(group_exists(name_ + "/a"));
  ASSERT_TRUE(remove_groups(name_));
  EXPECT_FALSE(group_exists(name_));
  EXPECT_TRUE(remove_groups(name_)) << "nothing there is nothing to do";
}

TEST(TestbedNetworks, ReachAnyDeviceFromAnyOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
  const auto pair = EmulatedPair::create({});
  if (!pair) GTEST_SKIP() << "no emulated links here: " << pair.error().message;
  for (const Topology topology : {Topology::kChain, Topology::kStar}) {
    Testbed bed = plain_testbed(3);
    bed.topology = topology;
    if (topology == Topology::kStar) bed.links.emplace_back();
    const auto network = TestbedNetwork::create(bed);
    ASSERT_TRUE(network) << network.error().message;
    for (const auto& [from, to] : {std::pair{0, 2}, {2, 0}, {0, 1}, {1, 2}}) {
      const auto found = measure_link({network->device(from), TestbedNetwork::host(from)},
                                      {network->device(to), TestbedNetwork::host(to)},
                                      {.probes = 5, .stream = std::chrono::nanoseconds(0)});
      ASSERT_TRUE(found) << found.error().message << from << to;
      EXPECT_EQ(found->forward.loss, 0);
    }
  }
}

}  // namespace
}  // namespace pareto::netem
