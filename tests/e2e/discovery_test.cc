// Devices that are found: daemons announced by a real Avahi on one side of a link, looked for on
// the other, and named by a real DNS server. Each side is a network namespace; the bus that daemon
// and Avahi share is of this test alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/file.h"
#include "netem/network_namespace.h"
#include "netem/run_program.h"
#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using netem::NetworkNamespace;
using netem::run_program;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvahi = "/usr/sbin/avahi-daemon";
constexpr const char* kBus = "/usr/bin/dbus-daemon";
constexpr const char* kDns = "/usr/sbin/dnsmasq";

class Discovery : public EndToEnd {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    for (const char* program : {kAvahi, kBus, kDns}) {
      if (!std::filesystem::exists(program)) GTEST_SKIP() << "there is no " << program;
    }
    auto near = NetworkNamespace::create();
    auto far = NetworkNamespace::create();
    if (!near || !far) GTEST_SKIP() << (near ? far : near).error().message;
    near_.emplace(*std::move(near));
    far_.emplace(*std::move(far));
    ASSERT_TRUE(near_->run([&] {
      return run_program({"ip", "link", "add", "name", "lan", "type", "veth", "peer", "name", "lan",
                          "netns", far_->path()});
    }));
    ASSERT_TRUE(set_up(*near_, "10.7.0.1/24"));
    ASSERT_TRUE(set_up(*far_, "10.7.0.2/24"));
  }

  static Expected<> set_up(const NetworkNamespace& where, const std::string& address) {
    return where.run([&]() -> Expected<> {
      PARETO_TRY(run_program({"ip", "address", "add", address, "dev", "lan"}));
      return run_program({"ip", "link", "set", "dev", "lan", "up"});
    });
  }

  std::string bus_variable() const {
    return "DBUS_SYSTEM_BUS_ADDRESS=unix:path=" + path("bus.socket");
  }

  static std::unique_ptr<Process> start(const NetworkNamespace& where,
                                        const std::vector<std::string>& argv,
                                        const std::vector<std::string>& environment = {}) {
    std::unique_ptr<Process> process;
    EXPECT_TRUE(where.run([&]() -> Expected<> {
      process = std::make_unique<Process>(argv, environment);
      return {};
    }));
    return process;
  }

  void start_bus() {
    std::ofstream(path("bus.conf"))
        << "<busconfig><type>system</type><listen>unix:path=" << path("bus.socket") << "</listen>"
        << "<auth>EXTERNAL</auth><policy context='default'><allow user='*'/><allow own='*'/>"
        << "<allow send_destination='*'/><allow receive_sender='*'/></policy></busconfig>";
    bus_ = start(*far_, {kBus, "--nofork", "--print-address", "--config-file=" + path("bus.conf")});
    ASSERT_TRUE(bus_->wait_for_output("unix:path=")) << bus_->errors();
  }
  void start_avahi() {
    std::ofstream(path("avahi.conf")) << "[server]\nhost-name=raspberrypi\nenable-dbus=yes\n"
                                         "[publish]\npublish-workstation=no\n";
    // What it keeps in /run is of this test, too.
    avahi_ = start(*far_,
                   {"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                    std::string("mount -t tmpfs tmpfs /run && exec ") + kAvahi +
                        " --no-drop-root --no-chroot --no-rlimits -f " + path("avahi.conf")},
                   {bus_variable()});
    ASSERT_TRUE(avahi_->wait_for_output("Server startup complete")) << avahi_->errors();
  }
  std::unique_ptr<Process> start_paretod(const std::string& name,
                                         const std::vector<std::string>& more = {}) const {
    std::vector<std::string> argv{"paretod",     "--insecure",
                                  "--listen",    "0.0.0.0:0",
                                  "--data",      "tcp=0.0.0.0:0",
                                  "--name",      name,
                                  "--state-dir", path("state " + std::to_string(++daemons_)),
                                  "--log-level", "debug",
                                  "--ready-fd",  "1"};
    argv.insert(argv.end(), more.begin(), more.end());
    auto daemon = start(*far_, argv, {bus_variable()});
    EXPECT_TRUE(daemon->wait_for_output("\"pid\":")) << daemon->errors();
    return daemon;
  }
  /// Returns the port on the far side, seen from the near one.
  static int port_of(const Process& daemon) {
    const std::string control = json::parse(daemon.output()).at("control");
    return std::stoi(control.substr(control.rfind(':') + 1));
  }

  Finished on_near_side(std::vector<std::string> arguments) const {
    Finished done;
    EXPECT_TRUE(near_->run([&]() -> Expected<> {
      done = paretoctl(std::move(arguments));
      return {};
    }));
    return done;
  }
  json discover() const {
    const Finished done = on_near_side({"discover", "--timeout", "2s", "--json"});
    json found = json::parse(done.output, nullptr, false);
    EXPECT_EQ(done.exit_code, found.empty() ? 3 : 0) << done.errors;
    return found;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const json& device : discover()) list.push_back(device.at("name"));
    return list;
  }

  std::optional<NetworkNamespace> near_;
  std::optional<NetworkNamespace> far_;
  std::unique_ptr<Process> bus_;
  std::unique_ptr<Process> avahi_;

 private:
  mutable int daemons_ = 0;
};

TEST_F(Discovery, WhatIsFoundIsAnInventory) {
  start_bus();
  start_avahi();
  const auto daemon = start_paretod("pi 1. Küche");
  ASSERT_TRUE(daemon->wait_for_output("announced as \"pi 1. Küche\"")) << daemon->errors();
  const Finished done =
      on_near_side({"discover", "--timeout", "2s", "--json", "--write", path("found.yaml")});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  const json found = json::parse(done.output);
  ASSERT_EQ(found.size(), 1U) << done.output;
  EXPECT_EQ(found[0].at("name"), "pi 1. Küche");
  EXPECT_EQ(found[0].at("device_name"), "pi 1. Küche");
  EXPECT_EQ(found[0].at("version"), PARETO_VERSION);
  EXPECT_EQ(found[0].at("host"), "raspberrypi.local");
  EXPECT_EQ(found[0].at("address"), "10.7.0.2:" + std::to_string(port_of(*daemon)));

  const Finished asked = on_near_side({"devices", "--insecure", "--devices", path("found.yaml")});
  EXPECT_EQ(asked.exit_code, 0) << asked.output << asked.errors;
  EXPECT_THAT(asked.output, AllOf(HasSubstr("pi 1. Küche"), HasSubstr("well")));

  const Finished again = on_near_side({"discover", "--write", path("found.yaml")});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.errors, HasSubstr("found.yaml"));

  // It says goodbye.
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->wait(), 0);
  const Finished none = on_near_side({"discover", "--timeout", "2s", "--write", path("none.yaml")});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.errors,
              AllOf(HasSubstr("No daemon answered"), HasSubstr("--devices HOST:7070,HOST:7070")));
  EXPECT_FALSE(std::filesystem::exists(path("none.yaml")));
}

TEST_F(Discovery, TwoOfOneNameAreToldApart) {
  start_bus();
  start_avahi();
  const auto first = start_paretod("pi");
  ASSERT_TRUE(first->wait_for_output("announced as \"pi\"")) << first->errors();
  const auto second = start_paretod("pi");
  ASSERT_TRUE(second->wait_for_output("announced as \"pi #2\"")) << second->errors();
  const json found = discover();
  ASSERT_EQ(found.size(), 2U) << found;
  EXPECT_EQ(found[0].at("name"), "pi");
  EXPECT_EQ(found[1].at("name"), "pi #2");
  EXPECT_EQ(found[1].at("device_name"), "pi");
  EXPECT_EQ(found[1].at("port"), port_of(*second));
}

TEST_F(Discovery, AvahiMayComeLaterAndAgain) {
  start_bus();
  const auto daemon = start_paretod("pi");
  ASSERT_TRUE(daemon->wait_for_output("not announced: no Avahi")) << daemon->errors();
  start_avahi();
  ASSERT_TRUE(daemon->wait_for_output("announced as \"pi\"")) << daemon->errors();
  avahi_->signal(SIGTERM);
  avahi_->wait();
  start_avahi();
  // Each question takes its time.
  std::vector<std::string> found;
  for (int questions = 0; questions < 20 && found.empty(); ++questions) found = names();
  EXPECT_EQ(found, std::vector<std::string>{"pi"}) << daemon->errors();
  EXPECT_THAT(daemon->errors(), Not(HasSubstr("warning not announced")));
}

TEST_F(Discovery, TheBusMayComeLaterAndAgain) {
  const auto daemon = start_paretod("pi");
  ASSERT_TRUE(daemon->wait_for_output("not announced: no system bus")) << daemon->errors();
  start_bus();
  start_avahi();
  ASSERT_TRUE(daemon->wait_for_output("announced as \"pi\"")) << daemon->errors();
  for (Process* gone : {avahi_.get(), bus_.get()}) {
    gone->signal(SIGKILL);
    gone->wait();
  }
  start_bus();
  start_avahi();
  std::vector<std::string> found;
  for (int questions = 0; questions < 20 && found.empty(); ++questions) found = names();
  EXPECT_EQ(found, std::vector<std::string>{"pi"}) << daemon->errors();
}

TEST_F(Discovery, AvahiMayHang) {
  start_bus();
  start_avahi();
  avahi_->signal(SIGSTOP);
  const auto daemon = start_paretod("pi");
  ASSERT_TRUE(daemon->wait_for_output("warning not announced: Avahi: GetState"))
      << daemon->errors();
  avahi_->signal(SIGCONT);
  EXPECT_TRUE(daemon->wait_for_output("announced as \"pi\"")) << daemon->errors();
  EXPECT_EQ(names(), std::vector<std::string>{"pi"});
}

TEST_F(Discovery, WhoIsNotToBeFoundIsNot) {
  start_bus();
  start_avahi();
  const auto off = start_paretod("off", {"--discovery", "off"});
  const auto loopback = start_paretod("loopback", {"--listen", "127.0.0.1:0"});
  std::ofstream(path("paretod.yaml")) << "discovery: mdns\n";
  const auto told = start_paretod("told", {"--config", path("paretod.yaml")});
  ASSERT_TRUE(told->wait_for_output("announced as \"told\"")) << told->errors();
  EXPECT_EQ(names(), std::vector<std::string>{"told"});
  std::ofstream(path("paretod.yaml")) << "discovery: off\n";
  told->signal(SIGHUP);
  ASSERT_TRUE(told->wait_for_output("discovery is \"off\" now")) << told->errors();
  EXPECT_EQ(names(), std::vector<std::string>());
}

TEST_F(Discovery, WithoutABusADaemonServesAndSaysNothing) {
  const auto daemon = start_paretod("pi");
  ASSERT_TRUE(daemon->wait_for_output("not announced: no system bus")) << daemon->errors();
  const std::string address = "10.7.0.2:" + std::to_string(port_of(*daemon));
  const Finished asked =
      on_near_side({"devices", "--insecure", "--devices", inventory({{"pi", address}})});
  EXPECT_EQ(asked.exit_code, 0) << asked.output << asked.errors;
  EXPECT_THAT(daemon->errors(), Not(HasSubstr("warning not announced")));
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->wait(), 0);
}

TEST_F(Discovery, DnsNamesTheHostsOfADevice) {
  const auto daemon = start_paretod("pi");
  const std::string port = std::to_string(port_of(*daemon));
  std::ofstream(path("resolv.conf")) << "nameserver 127.0.0.1\n";
  const std::string service = "--srv-host=_pareto-edge._tcp";
  const auto dns = start(
      *near_, {kDns, "--keep-in-foreground", "--no-resolv", "--no-hosts", "--conf-file=/dev/null",
               "--user=root", "--pid-file", "--log-facility=-", "--listen-address=127.0.0.1",
               "--bind-interfaces", "--address=/pi.example.org/10.7.0.2",
               // Nobody listens there: who asks goes on to the next.
               service + ".example.org,pi.example.org,1,10,5",
               service + ".example.org,pi.example.org," + port + ",20,5",
               service + ".gone.example.org", "--local=/example.org/"});
  ASSERT_TRUE(dns->wait_for_output("started")) << dns->errors();

  const auto devices = [&](const std::string& domain) {
    const std::string file = inventory({{"pi", "srv:_pareto-edge._tcp." + domain}});
    Finished done;
    EXPECT_TRUE(near_->run([&]() -> Expected<> {
      done = run({"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                  "mount --bind " + path("resolv.conf") + " /etc/resolv.conf && exec " +
                      test::programs_folder() + "/paretoctl devices --json --insecure --devices " +
                      file});
      return {};
    }));
    return done;
  };
  const Finished found = devices("example.org");
  EXPECT_EQ(found.exit_code, 0) << found.output << found.errors;
  EXPECT_EQ(json::parse(found.output).at(0).at("well"), true) << found.output;
  for (const char* absent : {"gone.example.org", "nothing.example.org"}) {
    const Finished none = devices(absent);
    EXPECT_EQ(none.exit_code, 3) << none.errors;
    EXPECT_THAT(none.output, AllOf(HasSubstr(absent), HasSubstr("DNS")));
  }
}

}  // namespace
}  // namespace pareto::test
