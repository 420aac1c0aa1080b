// The metrics that the real program serves, and their certificates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "tests/daemon/support/paretod_fixture.h"
#include "tests/support/http.h"
#include "tests/support/tls.h"

namespace pareto::daemon {
namespace {

using pareto::test::Finished;
using pareto::test::https_get;
using pareto::test::Process;
using pareto::test::run;
using pareto::test::TestAuthority;
using test::ParetodTest;
using testing::HasSubstr;

TEST_F(ParetodTest, ServesMetricsWhereItIsTold) {
  Process quiet(arguments());
  EXPECT_FALSE(ready(quiet).contains("metrics"));
  quiet.signal(SIGTERM);
  EXPECT_EQ(quiet.wait(), 0);

  Process daemon(arguments({"--metrics", "127.0.0.1:0"}));
  const auto address = ready(daemon)["metrics"].get<std::string>();
  const auto scraped = pareto::test::http_get(address, "/metrics");
  EXPECT_EQ(scraped.status, 200);
  EXPECT_THAT(scraped.body, HasSubstr("pareto_build_info{version=\"" PARETO_VERSION "\""));
  EXPECT_THAT(scraped.body, HasSubstr("pareto_shards{device=\"test-device\"} 0"));
  const Finished second = run({"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=127.0.0.1:0",
                               "--state-dir", path("second"), "--metrics", address});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.errors, HasSubstr(address));
  EXPECT_EQ(run(arguments({"--metrics", "7073"})).exit_code, 2);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, ServesMetricsOverTlsWithACertificateThatIsRenewed) {
  const TestAuthority authority(folder_.path(), "authority");
  const auto files = authority.issue("device");
  Process daemon(arguments({"--metrics", "127.0.0.1:0", "--metrics-certificate", files.certificate,
                            "--metrics-key", files.key}));
  const auto address = ready(daemon)["metrics"].get<std::string>();
  EXPECT_TRUE(daemon.wait_for_output("metrics at https://" + address)) << daemon.errors();
  const auto scraped = https_get(address, "/metrics", {authority.certificate()});
  EXPECT_EQ(scraped.status, 200) << scraped.body;
  EXPECT_THAT(scraped.body, HasSubstr("pareto_certificate_expiry_timestamp_seconds{use=\"metrics\","
                                      "device=\"test-device\"} "));

  std::ofstream(files.certificate) << "nothing\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.wait_for_output("the one before stays: certificate: " + files.certificate))
      << daemon.errors();
  EXPECT_EQ(https_get(address, "/metrics", {authority.certificate()}).status, 200);
  const TestAuthority next(folder_.path(), "next");
  next.issue("device");
  EXPECT_EQ(https_get(address, "/metrics", {next.certificate()}).status, 200);
  EXPECT_TRUE(daemon.wait_for_output("the certificate was read again")) << daemon.errors();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, CertificatesAreCheckedBeforeAnythingStarts) {
  const TestAuthority authority(folder_.path(), "authority");
  const auto files = authority.issue("old", {std::chrono::hours(-2), std::chrono::hours(-1)});
  const auto run_with = [&](const std::string& certificate, const std::string& more) {
    return run(arguments({"--metrics", "127.0.0.1:0", "--metrics-certificate", certificate,
                          "--metrics-key", files.key, more}));
  };
  // At once, or when it is asked to look.
  for (const char* more : {"--allow-netem=false", "--check-config"}) {
    const Finished absent = run_with(path("absent.pem"), more);
    EXPECT_EQ(absent.exit_code, 2);
    EXPECT_THAT(absent.errors, HasSubstr("metrics: certificate: " + path("absent.pem")));
  }
  const Finished checked = run_with(files.certificate, "--check-config");
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_THAT(checked.errors, HasSubstr("has expired"));
}

}  // namespace
}  // namespace pareto::daemon
