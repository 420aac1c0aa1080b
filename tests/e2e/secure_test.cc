// Who is let in: daemons with credentials, and coordinators with the right ones, others' and none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/tls/credentials.h"
#include "tests/e2e/fixture.h"
#include "tests/support/paretod.h"
#include "tests/support/tls.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using tls::Identity;
using tls::Role;

class Secure : public EndToEnd {
 protected:
  /// Returns the folder of credentials that the authority of this test issues.
  std::string issue(const std::string& name, Role role, const Validity& validity = {}) const {
    return authority_.credentials({name, role}, validity).string();
  }
  std::unique_ptr<Daemon> daemon(const std::string& name, const std::string& credentials) const {
    return std::make_unique<Daemon>(name, folder(),
                                    std::vector<std::string>{"--credentials", credentials});
  }
  /// Asks one device how it is, with those credentials.
  static Finished ask(const std::string& inventory, const std::string& credentials) {
    return paretoctl({"devices", "--devices", inventory, "--credentials", credentials});
  }
  /// Expects that one device cannot be asked, and why.
  static void refused(const std::string& inventory, const std::string& credentials,
                      const testing::Matcher<std::string>& why) {
    const Finished asked = ask(inventory, credentials);
    EXPECT_EQ(asked.exit_code, 3) << asked.output << asked.errors;
    EXPECT_THAT(asked.output, why);
  }

  TestAuthority authority_{folder(), "authority"};
  TestAuthority foreign_{made("foreign"), "authority"};

 private:
  std::filesystem::path made(const std::string& name) const {
    std::filesystem::create_directories(folder() / name);
    return folder() / name;
  }
};

TEST_F(Secure, AModelRunsOverMutualTls) {
  const auto first = daemon("pi-1", issue("pi-1", Role::kDevice));
  const auto second = daemon("pi-2", issue("pi-2", Role::kDevice));
  const std::string devices = inventory({{"pi-1", first->address()}, {"pi-2", second->address()}});
  const std::string own = issue("laptop", Role::kCoordinator);
  for (const char* transport : {"tcp", "grpc"}) {
    const Finished swept =
        paretoctl({"run", "--model", "mobilenetv2", "--input-shape", "3x32x32", "--num-classes",
                   "10", "--split", "percent:50", "--transport", transport, "--requests", "3",
                   "--devices", devices, "--credentials", own, "--json"});
    ASSERT_EQ(swept.exit_code, 0) << transport << ": " << swept.errors;
  }
  const Finished asked =
      paretoctl({"devices", "--devices", devices, "--credentials", own, "--json"});
  ASSERT_EQ(asked.exit_code, 0) << asked.errors;
  const json document = json::parse(asked.output);
  EXPECT_EQ(document[0]["identity"], "device pi-1");
  EXPECT_EQ(document[1]["insecure"], false);
  EXPECT_GT(document[1]["certificate_expires"], 0);
}

TEST_F(Secure, CoordinatorsWithoutTheRightCredentialsAreRefused) {
  const auto device = daemon("pi-1", issue("pi-1", Role::kDevice));
  const std::string devices = inventory({{"pi-1", device->address()}});
  const Finished none = paretoctl({"devices", "--devices", devices});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.output, AllOf(HasSubstr("you have none"), HasSubstr("paretoctl pki init")));
  refused(devices, foreign_.credentials({"laptop", Role::kCoordinator}),
          HasSubstr("its certificate does not hold"));
  refused(devices,
          issue("laptop", Role::kCoordinator, {std::chrono::hours(-48), std::chrono::hours(-24)}),
          AllOf(HasSubstr("expired"), HasSubstr("paretoctl pki renew")));
  refused(devices, issue("pi-9", Role::kDevice),
          AllOf(HasSubstr("role device"), HasSubstr("credentials of a coordinator")));
  const std::string observer = issue("screen", Role::kObserver);
  EXPECT_EQ(ask(devices, observer).exit_code, 0);
  std::vector<std::string> arguments{"run",   "--split",       "none",  "--devices",
                                     devices, "--credentials", observer};
  for (const std::string& one : small_model()) arguments.push_back(one);
  const Finished runs = paretoctl(arguments);
  EXPECT_NE(runs.exit_code, 0);
  EXPECT_THAT(runs.errors, HasSubstr("role observer"));
  EXPECT_THAT(runs.errors, testing::Not(HasSubstr(folder().string())));
}

TEST_F(Secure, DevicesThatAreNotWhoTheyShouldBeAreRefused) {
  const auto other = daemon("pi-2", issue("pi-2", Role::kDevice));
  const std::string own = issue("laptop", Role::kCoordinator);
  refused(inventory({{"pi-1", other->address()}}), own,
          AllOf(HasSubstr("device pi-2 answers there, not pi-1"), HasSubstr("identity: pi-2")));
  // A bare address takes any device of the authority.
  EXPECT_EQ(ask(other->address(), own).exit_code, 0);
  const auto expired = daemon(
      "pi-3", issue("pi-3", Role::kDevice, {std::chrono::hours(-48), std::chrono::hours(-24)}));
  refused(inventory({{"pi-3", expired->address()}}), own,
          AllOf(HasSubstr("certificate has expired"), HasSubstr("paretod enroll")));
}

TEST_F(Secure, ACertificateThatIsTakenBackIsRefusedWithoutARestart) {
  const std::string own = issue("laptop", Role::kCoordinator);
  const std::string theirs = issue("pi-1", Role::kDevice);
  const auto device = daemon("pi-1", theirs);
  const std::string devices = inventory({{"pi-1", device->address()}});
  EXPECT_EQ(ask(devices, own).exit_code, 0);
  authority_.revoke(own);
  std::ofstream(std::filesystem::path(theirs) / tls::kRevokedFile) << authority_.revocation();
  device->process().signal(SIGHUP);
  Finished asked;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       std::chrono::steady_clock::now() < end;) {
    asked = ask(devices, own);
    if (asked.exit_code != 0) break;
  }
  EXPECT_EQ(asked.exit_code, 3);
  EXPECT_THAT(asked.output, HasSubstr("revoked"));
}

TEST_F(Secure, ADaemonOfThisMachineNeedsNoCredentialsUntilItsCoordinatorHasSome) {
  const Daemon plain("here", folder());
  const std::string devices = inventory({{"here", plain.address()}});
  EXPECT_EQ(paretoctl({"devices", "--devices", devices}).exit_code, 0);
  refused(devices, issue("laptop", Role::kCoordinator),
          AllOf(HasSubstr("speaks no TLS"), HasSubstr("insecure: true")));
  EXPECT_EQ(paretoctl({"devices", "--insecure", "--devices", devices}).exit_code, 0);
  // Over a network neither side does without.
  const Finished far = paretoctl({"devices", "--devices", "192.0.2.1:7070"});
  EXPECT_EQ(far.exit_code, 3);
  EXPECT_THAT(far.output, AllOf(HasSubstr("you have no credentials"), HasSubstr("--insecure")));
}

TEST_F(Secure, ADaemonOnANetworkWantsCredentials) {
  const auto start = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"paretod", "--state-dir", (folder() / "state").string()});
    return run(more);
  };
  for (const std::string setting : {"--listen=0.0.0.0:0", "--data=tcp=0.0.0.0:0"}) {
    const Finished refused = start({setting});
    EXPECT_EQ(refused.exit_code, 2) << setting;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("paretoctl pki issue"), HasSubstr("paretod enroll"),
                                      HasSubstr("--insecure")));
    EXPECT_EQ(start({setting, "--check-config"}).exit_code, 2) << setting;
    EXPECT_EQ(start({setting, "--check-config", "--insecure"}).exit_code, 0) << setting;
    EXPECT_EQ(
        start({setting, "--check-config", "--credentials", issue("pi-1", Role::kDevice)}).exit_code,
        0)
        << setting;
  }
  const Finished both =
      start({"--insecure", "--credentials", issue("pi-1", Role::kDevice), "--check-config"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.errors, HasSubstr("leave one"));
  EXPECT_THAT(start({"--credentials", issue("me", Role::kCoordinator), "--check-config"}).errors,
              HasSubstr("a daemon needs a device's"));
}

TEST_F(Secure, AnInsecureDaemonSaysSo) {
  const Daemon daemon("open", folder(), {"--insecure", "--log-level", "info"});
  EXPECT_THAT(daemon.address(), HasSubstr("127.0.0.1"));
  const std::string devices = inventory({{"open", daemon.address()}});
  const Finished asked = paretoctl({"devices", "--devices", devices});
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_THAT(asked.output, HasSubstr("insecure: all who reach it"));
  EXPECT_THAT(paretoctl({"doctor", "--devices", devices}).output, HasSubstr("insecure"));
}

}  // namespace
}  // namespace pareto::test
