// What is said of facts, each with what to do.
#include "client/watch/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace pareto::watch {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Returns facts of which all are good.
HealthFacts good_facts() {
  HealthFacts facts;
  facts.own.cores = 4;
  facts.own.torch_version = "1.13.1";
  facts.own.congestion_control = "cubic";
  facts.own.store = "/home/me/results.db";
  facts.own.listens = {{"tcp", ""}};
  facts.own.paretod = "/usr/bin/paretod";
  DeviceHealth device;
  device.config = {"pi-1", "10.0.0.1:7070"};
  device.info.version = PARETO_VERSION;
  device.info.cores = 4;
  device.info.threads = 4;
  device.info.torch_version = "1.13.1";
  device.info.device = "cpu";
  device.info.data = {{"tcp", "10.0.0.1:7071"}};
  device.info.store_bytes = 10;
  device.info.store_limit_bytes = 100;
  device.observation.machine.memory_bytes = 1000;
  device.observation.machine.memory_available_bytes = 600;
  device.observation.machine.temperature_celsius = 55;
  device.observation.machine.governors = {"performance"};
  device.clock = cluster::ClockOffset{std::chrono::seconds(-3), std::chrono::microseconds(80)};
  facts.devices = {device};
  facts.loads = {{"pi-1", 4, 0.03, 0.2, 0.5}};
  facts.ways = {{"this machine", "pi-1", "tcp", "10.0.0.1:7071", "", milliseconds(2)}};
  return facts;
}

Finding finding(const HealthFacts& facts, const std::string& subject, const std::string& check) {
  const auto findings = check_health(facts);
  const auto found = std::ranges::find_if(
      findings, [&](const Finding& one) { return one.subject == subject && one.check == check; });
  if (found != findings.end()) return *found;
  ADD_FAILURE() << subject << ", " << check << ": nothing is said";
  return {};
}

/// Returns the finding about the device, after `change`.
template <typename Change>
Finding of_device(const std::string& check, Change change) {
  HealthFacts facts = good_facts();
  change(facts.devices.at(0));
  return finding(facts, "pi-1", check);
}

template <typename Change>
Finding of_own(const std::string& check, Change change) {
  HealthFacts facts = good_facts();
  change(facts.own);
  return finding(facts, "this machine", check);
}

void expect(const Finding& one, Severity severity, const std::string& found,
            const std::string& remedy) {
  EXPECT_EQ(one.severity, severity) << one.found;
  EXPECT_THAT(one.found, HasSubstr(found));
  EXPECT_THAT(one.remedy, HasSubstr(remedy));
}

TEST(Health, NothingIsToBeDoneWhereAllIsWell) {
  const auto findings = check_health(good_facts());
  EXPECT_GE(findings.size(), 18U);
  for (const Finding& one : findings) {
    EXPECT_EQ(one.severity, Severity::kOk) << one.check << ": " << one.found;
    EXPECT_EQ(one.remedy, "") << one.check;
    EXPECT_NE(one.found, "") << one.check;
  }
}

TEST(Health, OfThisMachine) {
  expect(of_own("cores", [](OwnFacts& own) { own.cores = 1; }), Severity::kWarn, "share it",
         "--devices");
  expect(of_own("idle links", [](OwnFacts& own) { own.slow_start_after_idle = true; }),
         Severity::kWarn, "slow", "sysctl");
  expect(of_own("results", [](OwnFacts& own) { own.store_problem = "read-only"; }), Severity::kFail,
         "read-only", "--store");
  expect(of_own("tcp", [](OwnFacts& own) { own.listens[0].problem = "no sockets"; }),
         Severity::kFail, "no sockets", "sockets");
  expect(of_own("paretod", [](OwnFacts& own) { own.paretod_problem = "no such file"; }),
         Severity::kFail, "no such file", "install or build");
}

TEST(Health, ADeviceThatDoesNotAnswerHasOneFinding) {
  for (const auto& [code, remedy] : std::vector<std::pair<ErrorCode, std::string>>{
           {ErrorCode::kUnavailable, "start paretod there"},
           {ErrorCode::kTimeout, "firewall"},
           {ErrorCode::kNotFound, "what DNS says"},
           {ErrorCode::kInternal, "journalctl"},
           {ErrorCode::kCorrupt, "install the same version on both"},
           {ErrorCode::kInvalidArgument, "install the same version on both"}}) {
    HealthFacts facts = good_facts();
    facts.devices[0].problem = Error{code, "pi-1: why"};
    facts.loads.clear();  // nobody tells of its machine
    expect(finding(facts, "pi-1", "answers"), Severity::kFail, "pi-1: why", remedy);
    const auto findings = check_health(facts);
    EXPECT_EQ(std::ranges::count(findings, "pi-1", &Finding::subject), 1);
  }
}

TEST(Health, ARemedyFitsTheCauseAndBlamesNoFirewallThatIsNotThere) {
  for (const auto& [problem, remedy] : std::vector<std::pair<std::string, std::string>>{
           {"no daemon answers (Connection refused)", "nothing listens at that address"},
           {"no daemon answers (No route to host)", "no way leads there"},
           {"no daemon answers (Network is unreachable)", "no way leads there"},
           {"no daemon answers (No such file or directory)", "its socket is for its user"}}) {
    HealthFacts facts = good_facts();
    facts.devices[0].problem = Error{ErrorCode::kUnavailable, problem};
    const Finding found = finding(facts, "pi-1", "answers");
    EXPECT_THAT(found.remedy, HasSubstr(remedy));
    EXPECT_THAT(found.remedy, testing::Not(HasSubstr("firewall")));
  }
}

TEST(Health, OfWhatOthersTake) {
  HealthFacts facts = good_facts();
  expect(finding(facts, "pi-1", "others"), Severity::kOk, "load 0.2 on 4 cores, others use 3 %",
         "");
  facts.loads.push_back({results::kThisMachine, 2, 0.61, 5.8, 0.5});
  expect(finding(facts, results::kThisMachine, "others"), Severity::kWarn,
         "load 5.8 on 2 cores, others use 61 %: figures will vary", "end what else runs there");
  expect(of_device("company",
                   [](DeviceHealth& device) {
                     device.observation.other_coordinators = 1;
                     device.observation.other_pipelines = 2;
                   }),
         Severity::kWarn, "another coordinator runs 2 pipelines here", "measure when it is done");
}

TEST(Health, OfADiskSmallerThanTheStoresLimit) {
  const auto with = [](std::uint64_t held, std::uint64_t free) {
    return of_device("weights", [&](DeviceHealth& device) {
      device.info.store_bytes = held << 20;
      device.info.store_free_bytes = free << 20;
      device.info.store_limit_bytes = std::uint64_t{8} << 30;
    });
  };
  expect(with(1000, 90), Severity::kWarn, "its file system has 90", "state_dir");
  expect(with(1000, 900), Severity::kOk, "of 8", "");
  expect(with(1000, 20'000), Severity::kOk, "of 8", "");
  expect(with(1000, 0), Severity::kOk, "of 8", "");
}

TEST(Health, OfWhoMayComeIn) {
  expect(of_device("access", [](DeviceHealth& device) { device.info.insecure = true; }),
         Severity::kWarn, "insecure", "paretoctl pki issue");
  const auto expires = [](std::chrono::hours left) {
    return of_device("access", [&](DeviceHealth& device) {
      device.info.certificate_expires =
          std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() + left);
    });
  };
  expect(expires(std::chrono::hours(24 * 20)), Severity::kWarn, "expires soon", "pki renew");
  expect(expires(std::chrono::hours(-1)), Severity::kFail, "expired", "pki renew");
}

TEST(Health, OfThreadsAndQuota) {
  expect(of_device("threads", [](DeviceHealth& device) { device.info.threads = 1; }),
         Severity::kWarn, "1 of 4 cores: the others are idle", "threads: auto");
  expect(of_device("threads", [](DeviceHealth& device) { device.info.threads = 8; }),
         Severity::kWarn, "8 of 4 cores: more threads than cores", "threads: auto");
  expect(of_device("threads", [](DeviceHealth& device) { device.info.cpu_quota = 1.5; }),
         Severity::kWarn, "CPU quota is 1.5 cores", "threads: auto");
  expect(of_device("threads",
                   [](DeviceHealth& device) {
                     device.info.cpu_quota = 2;
                     device.info.threads = 2;
                   }),
         Severity::kOk, "2 of 4 cores", "");
  expect(of_device("CPU quota", [](DeviceHealth& device) { device.info.cpu_quota = 2; }),
         Severity::kOk, "2 of 4 cores", "");
  expect(of_device("CPU quota",
                   [](DeviceHealth& device) {
                     device.info.cpu_quota = 2;
                     device.observation.machine.quota_periods = 100;
                     device.observation.machine.throttled_periods = 40;
                   }),
         Severity::kWarn, "ran out in 40 of 100 periods", "--cpus");
}

TEST(Health, OfVersions) {
  expect(of_device("version", [](DeviceHealth& device) { device.info.version = "0.0.7"; }),
         Severity::kWarn, "0.0.7, this program is ", "the same version");
  expect(of_device("LibTorch", [](DeviceHealth& device) { device.info.torch_version = "2.6.0"; }),
         Severity::kWarn, "2.6.0, here it is 1.13.1", "the same LibTorch");
  expect(of_device("state",
                   [](DeviceHealth& device) {
                     device.unobserved = Error{ErrorCode::kInvalidArgument, "it cannot"};
                   }),
         Severity::kFail, "it cannot", "the same version");
}

TEST(Health, OfClocks) {
  expect(of_device("clock", [](DeviceHealth&) {}), Severity::kOk,
         "-3.000000 s from ours, known to 0.08 ms", "");
  expect(of_device("clock", [](DeviceHealth& device) { device.clock->error = milliseconds(6); }),
         Severity::kWarn, "known to 6 ms", "quieter");
  expect(of_device("clock",
                   [](DeviceHealth& device) {
                     device.clock = fail(ErrorCode::kCorrupt, "contradict each other");
                   }),
         Severity::kFail, "contradict each other", "version");
}

TEST(Health, OfWhatMakesTimesVary) {
  const auto of_machine = [](const std::string& check, auto change) {
    return of_device(check, [&](DeviceHealth& device) { change(device.observation.machine); });
  };
  using Machine = control::MachineState;
  expect(of_machine("governor",
                    [](Machine& m) {
                      m.governors = {"performance", "ondemand"};
                    }),
         Severity::kWarn, "ondemand", "cpupower");
  expect(of_machine("governor", [](Machine& m) { m.governors.clear(); }), Severity::kOk, "none",
         "");
  expect(of_machine("throttling", [](Machine& m) { m.throttled = {"under_voltage"}; }),
         Severity::kFail, "under_voltage", "power supply");
  expect(of_machine("throttling", [](Machine& m) { m.throttled = {"throttling"}; }),
         Severity::kFail, "throttling", "fan");
  expect(of_machine("throttling", [](Machine& m) { m.throttle_events = 3; }), Severity::kWarn,
         "3 times", "fan");
  expect(of_machine("temperature", [](Machine& m) { m.temperature_celsius = 75; }), Severity::kWarn,
         "75 °C", "fan");
  expect(of_machine("temperature", [](Machine& m) { m.temperature_celsius = 90; }), Severity::kFail,
         "90 °C", "fan");
  expect(of_machine("temperature", [](Machine& m) { m.temperature_celsius.reset(); }),
         Severity::kOk, "none", "");
  expect(of_machine("memory", [](Machine& m) { m.memory_available_bytes = 99; }), Severity::kWarn,
         "99 B of ", "end what else runs");
  expect(of_machine("memory", [](Machine& m) { m.memory_bytes = 0; }), Severity::kOk, "not say",
         "");
}

TEST(Health, OfWhatADeviceGives) {
  expect(of_device("weights", [](DeviceHealth& device) { device.info.store_bytes = 90; }),
         Severity::kWarn, "90 B of 100 B", "store_limit");
  expect(of_device("weights", [](DeviceHealth& device) { device.info.store_limit_bytes = 0; }),
         Severity::kOk, "10 B", "");
  expect(of_device("ports", [](DeviceHealth& device) { device.info.data.clear(); }),
         Severity::kFail, "no address", "data:");
  expect(of_device("runs on", [](DeviceHealth& device) { device.info.cuda_devices = 1; }),
         Severity::kWarn, "GPU", "device: cuda:0");
}

TEST(Health, NetemFailsOnlyWhereItIsWanted) {
  const auto closed = [](DeviceHealth& device) {
    device.observation.machine.netem_problem = "it may not";
  };
  expect(of_device("netem", closed), Severity::kOk, "it could not make them: it may not", "");
  expect(of_device("netem",
                   [&](DeviceHealth& device) {
                     closed(device);
                     device.config.netem_interface = "eth1";
                   }),
         Severity::kFail, "names eth1, but it may not", "allow_netem");
}

TEST(Health, OfDevicesOnOneMachine) {
  HealthFacts facts = good_facts();
  DeviceHealth& first = facts.devices[0];
  first.info.place.boot = "boot-1";
  first.info.threads = 2;
  first.info.data["shm"] = "one";
  DeviceHealth second = first;
  second.config = {"pi-2", "10.0.0.1:8070"};
  second.info.data = {{"tcp", "10.0.0.1:8071"}, {"shm", "two"}};
  DeviceHealth elsewhere = second;
  elsewhere.config.name = "server";
  elsewhere.info.place.boot = "boot-2";
  facts.devices = {first, second, elsewhere};
  expect(finding(facts, "pi-1 and pi-2", "cores"), Severity::kOk, "4 threads", "");
  facts.devices[1].info.threads = 3;
  expect(finding(facts, "pi-1 and pi-2", "cores"), Severity::kWarn,
         "5 threads of daemons that each may use 4 cores", "fewer threads");
  const auto says = [&](const std::string& check) {
    return std::ranges::count(check_health(facts), check, &Finding::check);
  };
  EXPECT_EQ(says("daemon"), 0);
  EXPECT_EQ(says("cores"), 2) << "that of this machine is the other";
  // It has been given one of the four, or here those of them all.
  facts.devices[1].info.cores = 1;
  EXPECT_EQ(says("cores"), 1);
  facts.devices[1].info.cores = 4;
  facts.own.boot = "boot-1";
  facts.own.cores = 8;
  EXPECT_EQ(says("cores"), 1);

  // Another name of the same daemon.
  facts.devices[1].config.address = "pi.local:7070";
  facts.devices[1].info.data = {{"tcp", "pi.local:7071"}, {"shm", "one"}};
  expect(finding(facts, "pi-1 and pi-2", "daemon"), Severity::kFail, "that of pi.local:7070",
         "name another daemon");
  // Without shared memory only all addresses together say so.
  for (DeviceHealth* const device : {&facts.devices[0], &facts.devices[1]}) {
    device->info.data.erase("shm");
  }
  EXPECT_EQ(says("daemon"), 0);
  facts.devices[1].info.data = facts.devices[0].info.data;
  EXPECT_EQ(says("daemon"), 1);
}

TEST(Health, OfWays) {
  HealthFacts facts = good_facts();
  expect(finding(facts, "this machine to pi-1", "tcp"), Severity::kOk,
         "10.0.0.1:7071 answers in 2 ms", "");
  for (const auto& [problem, remedy] : std::vector<std::pair<std::string, std::string>>{
           {"Connection refused", "pi-1 answers, but nothing listens at 10.0.0.1:7072"},
           {"Network is unreachable", "give pi-2 a route to 10.0.0.1:7072"},
           {"timed out", "let the firewall of pi-1 take 10.0.0.1:7072 from pi-2"}}) {
    facts.ways.push_back({"pi-2", "pi-1", "grpc", "10.0.0.1:7072", problem, {}});
    expect(finding(facts, "pi-2 to pi-1", "grpc"), Severity::kFail, problem, remedy);
    facts.ways.pop_back();
  }
  std::string refused =
      "the role observer may not call ProbeLink: use the credentials of a coordinator";
  facts.ways.push_back({"pi-2", "pi-1", "tcp", "127.0.0.1:7071", "refused", {}});
  expect(finding(facts, "pi-2 to pi-1", "tcp"), Severity::kFail, "refused",
         "pi-1 listens for itself only: data: tcp=0.0.0.0:PORT");
  // Whatever the address is, nobody tried it.
  std::swap(facts.ways.back().problem, refused);
  expect(finding(facts, "pi-2 to pi-1", "tcp"), Severity::kWarn, "the role observer may not call",
         "use the credentials of a coordinator");
  std::swap(facts.ways.back().problem, refused);
  // Somebody answers there, but it is not pi-1.
  WayFacts& to_itself = facts.ways.back();
  to_itself.problem.clear();
  EXPECT_EQ(finding(facts, "pi-2 to pi-1", "tcp").severity, Severity::kOk);
  to_itself.apart = true;
  expect(finding(facts, "pi-2 to pi-1", "tcp"), Severity::kFail, "127.0.0.1:7071 is pi-2 itself",
         "pi-1 listens for itself only");
  // It may listen everywhere, if nobody says where it is.
  for (const char* control : {"127.0.0.1:7070", "unix:/run/paretod"}) {
    to_itself.control = control;
    expect(finding(facts, "pi-2 to pi-1", "tcp"), Severity::kFail, "127.0.0.1:7071 is pi-2 itself",
           std::string("name pi-1 in the inventory by an address that pi-2 reaches, in place of ") +
               control);
  }
}

}  // namespace
}  // namespace pareto::watch
