// netem apply, show and clear from the command line, on an interface in a namespace of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "netem/emulation_record.h"
#include "netem/network_namespace.h"
#include "netem/traffic_control.h"
#include "tests/client/support/program.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class NetemCommand : public Program {
 protected:
  NetemCommand() {
    std::ofstream(path("rate.yaml")) << "forward:\n  rate: 20mbit\n";
    std::ofstream(path("step.yaml")) << "forward:\n  trace:\n    - {at: 0s, rate: 5mbit}\n";
  }

  Done netem(const std::vector<std::string>& arguments) const { return run(whole(arguments)); }

  void refused(const std::vector<std::string>& arguments, const std::string& why) const {
    Program::refused(whole(arguments), kExitUsage, HasSubstr(why));
  }

 private:
  std::vector<std::string> whole(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "netem");
    arguments.insert(arguments.end(), {"--state", path("state")});
    return arguments;
  }
};

TEST_F(NetemCommand, WrongFlags) {
  refused({"check"}, "netem check takes a file");
  refused({"apply", path("rate.yaml")}, "an interface (--interface eth1)");
  refused({"apply", path("rate.yaml"), path("step.yaml"), "--interface", "eth1"}, "one file");
  refused({"apply", path("rate.yaml"), "--interface=-all"}, "\"-all\" is not the name");
  refused({"apply", path("rate.yaml"), "--interface", "eth1", "--for", "1"}, "--for");
  refused({"apply", path("none.yaml"), "--interface", "eth1"}, "none.yaml");
  refused({"show", path("rate.yaml")}, "netem show takes no files");
  refused({"clear", "--for", "1s"}, "--for is for netem apply");
  refused({"clear", "--interface", "eth1"}, "no network is emulated on \"eth1\"");
  refused({"check", path("rate.yaml"), "--interface", "eth1"}, "--interface is for apply");
  refused({"check", path("rate.yaml"), "--emulator", "tun"}, "auto, tc or user");
}

TEST_F(NetemCommand, AppliesShowsAndClears) {
  const auto aside = netem::NetworkNamespace::create();
  if (!aside) GTEST_SKIP() << aside.error().message;
  const auto ran = aside->run([&]() -> Expected<> {
    PARETO_TRY(netem::run_tc({"ip", "link", "add", "edge0", "type", "veth", "peer", "edge1"}));
    const auto kind = [] { return netem::queues_of("edge0").value().root_kind; };
    const std::string before = kind();

    Done done = netem({"apply", path("rate.yaml"), "--interface", "edge0"});
    EXPECT_EQ(done.code, kExitDone) << done.err;
    EXPECT_EQ(kind(), "tbf");
    done = netem({"show", "--json"});
    EXPECT_EQ(json::parse(done.out), json::parse(R"([{"interface": "edge0", "condition": "rate",
                                     "state": "kept", "process": null, "ingress_device": null}])"));
    done = netem({"clear"});
    EXPECT_EQ(done.code, kExitDone) << done.err;
    EXPECT_THAT(done.err, HasSubstr("cleared edge0"));
    EXPECT_EQ(kind(), before);

    // What changes over time is there for as long as the command runs.
    done = netem({"apply", path("step.yaml"), "--interface", "edge0", "--for", "10ms"});
    EXPECT_EQ(done.code, kExitDone) << done.err;
    EXPECT_THAT(done.out, HasSubstr("held"));
    EXPECT_EQ(kind(), before);
    EXPECT_EQ(json::parse(netem({"show", "--json"}).out), json::array());
    return {};
  });
  if (!ran) GTEST_SKIP() << ran.error().message;
}

TEST_F(NetemCommand, ClearsWhatItIsAskedToWhateverElseCannotBeCleared) {
  const auto aside = netem::NetworkNamespace::create();
  if (!aside) GTEST_SKIP() << aside.error().message;
  const auto ran = aside->run([&]() -> Expected<> {
    PARETO_TRY(netem::run_tc({"ip", "link", "add", "edge0", "type", "veth", "peer", "edge1"}));
    PARETO_ASSIGN(auto stuck, netem::record_of_this_process());
    ++stuck.started;  // gone
    stuck.interface = "edge1";
    stuck.index = ::if_nametoindex("edge1");
    stuck.most_segments = ~std::uint32_t{0};  // more than the kernel takes
    PARETO_TRY(netem::RecordFolder::hold(path("state"))->write(stuck));
    for (const auto& clear :
         {std::vector<std::string>{"clear", "--interface", "edge0"}, {"clear"}}) {
      Done done = netem({"apply", path("rate.yaml"), "--interface", "edge0"});
      EXPECT_EQ(done.code, kExitDone) << done.err;
      done = netem(clear);
      EXPECT_NE(done.code, kExitDone);
      EXPECT_THAT(done.err, AllOf(HasSubstr("cleared edge0"), HasSubstr("clearing edge1")));
      EXPECT_NE(netem::queues_of("edge0").value().root_kind, "tbf");
    }
    return {};
  });
  if (!ran) GTEST_SKIP() << ran.error().message;
}

}  // namespace
}  // namespace pareto::client::commands
