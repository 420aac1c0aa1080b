// The listener over TLS: who is answered, who is not, and that nobody keeps the others out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/metrics/metrics_server.h"
#include "core/tls/credentials.h"
#include "core/tls/observers.h"
#include "core/tls/server_certificate.h"
#include "tests/support/http.h"
#include "tests/support/tls.h"

namespace pareto::metrics {
namespace {

using namespace std::chrono_literals;
using test::http_get;
using test::https_get;
using test::RawConnection;
using test::TestAuthority;
using test::TlsClient;
using testing::HasSubstr;

class MetricsServerTls : public testing::Test {
 protected:
  MetricsServerTls()
      : folder_(TemporaryFolder::create("tls").value()),
        authority_(folder_.path(), "authority"),
        files_(authority_.issue("server")) {}

  void start(const ServerLimits& limits = {}) {
    auto certificate = tls::ServerCertificate::load(files_);
    ASSERT_TRUE(certificate) << certificate.error().message;
    start_with(*std::move(certificate), limits);
  }
  void start_with(std::shared_ptr<tls::ServerTls> certificate, const ServerLimits& limits = {}) {
    auto started = MetricsServer::start(
        "127.0.0.1:0",
        [this]() -> Families {
          return {single("scrapes_total", "Scrapes", Kind::kCounter, ++scrapes_)};
        },
        std::move(certificate), limits);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  test::HttpResult scrape(const TlsClient& client) const {
    return https_get(server_->address(), "/metrics", client);
  }
  TlsClient believer() const { return {authority_.certificate()}; }
  /// Somebody else is answered still.
  void expect_serves() const {
    const auto answer = scrape(believer());
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("\nscrapes_total "));
  }
  std::string say(std::string_view bytes) const {
    const RawConnection connection(server_->address());
    connection.send(bytes);
    connection.end_sending();
    return connection.read_to_end();
  }

  TemporaryFolder folder_;
  TestAuthority authority_;
  tls::CertificateFiles files_;
  std::atomic<int> scrapes_{0};
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTls, AnswersOverEachVersionThatIsSafe) {
  start();
  EXPECT_EQ(server_->url(), "https://" + server_->address() + "/metrics");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client = believer();
    client.newest_version = version;
    EXPECT_EQ(scrape(client).status, 200) << version;
  }
  EXPECT_EQ(https_get(server_->address(), "/favicon.ico", believer()).status, 404);
  TlsClient old = believer();
  old.newest_version = TLS1_1_VERSION;
  EXPECT_THAT(scrape(old).body, HasSubstr("alert protocol version"));
  EXPECT_EQ(scrapes_, 2);
}

TEST_F(MetricsServerTls, ShowsACertificateThatItsAuthoritySigned) {
  start();
  const TestAuthority stranger(folder_.path(), "stranger");
  const auto answer = scrape({stranger.certificate()});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.body, HasSubstr("certificate verify failed"));
  expect_serves();
}

TEST_F(MetricsServerTls, PlainHttpIsToldWhereToGo) {
  start();
  const auto answer = http_get(server_->address(), "/metrics");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("https://"));
  EXPECT_EQ(scrapes_, 0);
  expect_serves();
}

TEST_F(MetricsServerTls, HostileBytesEndTheirOwnConnection) {
  start();
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 600, ' ');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    // Half of them begin as a handshake does.
    if (i % 2 == 0) bytes.insert(0, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    EXPECT_THAT(say(bytes), testing::Not(HasSubstr("HTTP/1.1 200")));
  }
  EXPECT_EQ(scrapes_, 0);
  expect_serves();
}

TEST_F(MetricsServerTls, AnEndlessHeadIsRefusedAtItsLimit) {
  start({.head_bytes = 1024});
  const auto answer =
      test::say_over_tls(server_->address(), "GET / " + std::string(100'000, 'x'), believer());
  EXPECT_EQ(answer.status, 431) << answer.body;
  expect_serves();
}

TEST_F(MetricsServerTls, WhoDoesNotFinishTheHandshakeIsHungUpOn) {
  start({.patience = 20ms});
  const RawConnection silent(server_->address());
  const RawConnection half(server_->address());
  half.send(std::string_view("\x16\x03\x01\x02\x00\x01", 6));
  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
}

TEST_F(MetricsServerTls, SlowClientsKeepNobodyOut) {
  start({.connections = 4, .patience = 1h});
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server_->address()));
    slow.back()->send(std::string_view("\x16\x03\x01", 3));
  }
  expect_serves();
  EXPECT_EQ(slow.front()->read_to_end(), "");
}

TEST_F(MetricsServerTls, EndsWithClientsConnected) {
  start({.patience = 1h});
  const RawConnection waiting(server_->address());
  expect_serves();
  server_.reset();
  EXPECT_EQ(waiting.read_to_end(), "");
}

TEST_F(MetricsServerTls, ClientsShowWhoTheyAre) {
  const TestAuthority clients(folder_.path(), "clients");
  files_.client_ca = clients.certificate();
  start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto as = [&](const tls::CertificateFiles& own) {
      return scrape({authority_.certificate(), own, version});
    };
    EXPECT_EQ(as(clients.issue("prometheus")).status, 200);
    const int before = scrapes_;
    EXPECT_THAT(as({}).body, HasSubstr("alert"));
    // Of the server's authority, which says nothing about clients.
    EXPECT_THAT(as(authority_.issue("other")).body, HasSubstr("alert unknown ca"));
    EXPECT_THAT(as(clients.issue("late", {-48h, -1h})).body,
                HasSubstr("alert certificate expired"));
    EXPECT_EQ(scrapes_, before);
  }
  EXPECT_EQ(http_get(server_->address(), "/metrics").status, 400);
  EXPECT_EQ(scrapes_, 2);
}

TEST_F(MetricsServerTls, CredentialsLetInWhoMayLook) {
  const auto own = authority_.credentials({"pi-1", tls::Role::kDevice});
  const auto credentials = tls::Credentials::open(own).value();
  start_with(std::make_shared<tls::Observers>(credentials));
  const auto as = [&](const std::filesystem::path& folder, int version = 0) {
    const tls::CertificateFiles shown{folder / tls::kCertificateFile, folder / tls::kKeyFile, ""};
    return scrape({authority_.certificate(), shown, version, "pi-1.device.pareto-edge"});
  };
  const auto grafana = authority_.credentials({"grafana", tls::Role::kObserver});
  EXPECT_EQ(as(grafana).status, 200);
  EXPECT_EQ(as(authority_.credentials({"lab", tls::Role::kCoordinator})).status, 200);
  EXPECT_EQ(scrapes_, 2);
  const auto device = as(authority_.credentials({"pi-2", tls::Role::kDevice}));
  EXPECT_EQ(device.status, 403);
  EXPECT_THAT(device.body, HasSubstr("device pi-2 came: use the certificate of an observer"));
  EXPECT_THAT(as(grafana, TLS1_2_VERSION).body, HasSubstr("alert protocol version"));
  // Shows none.
  EXPECT_EQ(scrape({authority_.certificate(), {}, 0, "device.pareto-edge"}).status, 0);
  // Taken back: from the next connection on.
  authority_.revoke(grafana);
  ASSERT_TRUE(write_file_atomically(own / tls::kRevokedFile, authority_.revocation()));
  ASSERT_TRUE(credentials->refresh().value());
  EXPECT_EQ(as(grafana).status, 0);
  EXPECT_EQ(scrapes_, 2);
}

TEST_F(MetricsServerTls, ARenewedCertificateIsShownFromTheNextConnectionOn) {
  start();
  expect_serves();
  const TestAuthority next(folder_.path(), "next");
  next.issue("server");
  EXPECT_EQ(scrape({next.certificate()}).status, 200);
  EXPECT_EQ(scrape(believer()).status, 0);
}

TEST_F(MetricsServerTls, ABrokenOneLeavesTheOneBefore) {
  start();
  ASSERT_TRUE(write_file_atomically(files_.certificate, "nothing\n"));
  expect_serves();
  server_->refresh_certificate();
  expect_serves();
  authority_.issue("server");
  server_->refresh_certificate();
  expect_serves();
}

TEST_F(MetricsServerTls, ManyScrapeWhileItIsRenewed) {
  start();
  std::atomic<int> served{0};
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        for (int n = 0; n < 10; ++n) served += scrape(believer()).status == 200 ? 1 : 0;
      });
    }
    for (int n = 0; n < 10; ++n) {
      authority_.issue("server");
      server_->refresh_certificate();
    }
  }
  EXPECT_EQ(served, 40);
}

}  // namespace
}  // namespace pareto::metrics
