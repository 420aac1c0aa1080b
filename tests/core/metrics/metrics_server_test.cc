// The listener against clients that mean well, and those that do not.
#include "core/metrics/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/http.h"

namespace pareto::metrics {
namespace {

using test::http_get;
using test::parse_http;
using test::RawConnection;
using testing::HasSubstr;

class MetricsServerTest : public testing::Test {
 protected:
  void start(const ServerLimits& limits = {}) {
    auto started = MetricsServer::start(
        "127.0.0.1:0",
        [this]() -> Families {
          if (broken_) throw std::runtime_error("no figures");
          return {single("scrapes_total", "Scrapes", Kind::kCounter, ++scrapes_)};
        },
        nullptr, limits);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  /// Somebody else is answered still.
  void expect_serves() {
    const auto answer = http_get(server_->address(), "/metrics");
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr("scrapes_total"));
  }
  std::string say(std::string_view bytes) const {
    const RawConnection connection(server_->address());
    connection.send(bytes);
    connection.end_sending();
    return connection.read_to_end();
  }

  std::atomic<int> scrapes_{0};
  std::atomic<bool> broken_{false};
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, EachScrapeCollectsAnew) {
  start();
  EXPECT_THAT(http_get(server_->address(), "/metrics").body, HasSubstr("\nscrapes_total 1"));
  EXPECT_THAT(http_get(server_->address(), "/metrics").body, HasSubstr("\nscrapes_total 2"));
  EXPECT_EQ(http_get(server_->address(), "/").status, 200);
  EXPECT_EQ(http_get(server_->address(), "/favicon.ico").status, 404);
  EXPECT_EQ(scrapes_, 2);
}

TEST_F(MetricsServerTest, ARequestMayComeByteByByte) {
  start();
  const RawConnection connection(server_->address());
  for (const char c : std::string("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")) {
    ASSERT_TRUE(connection.send({&c, 1}));
  }
  EXPECT_EQ(parse_http(connection.read_to_end()).status, 200);
}

TEST_F(MetricsServerTest, WhatIsNoAddressAndWhatIsTaken) {
  start();
  const auto none = [] { return Families(); };
  EXPECT_EQ(MetricsServer::start("7073", none).error().code, ErrorCode::kInvalidArgument);
  const auto taken = MetricsServer::start(server_->address(), none);
  EXPECT_EQ(taken.error().code, ErrorCode::kPermission);
  EXPECT_THAT(taken.error().message, HasSubstr(server_->address()));
}

TEST_F(MetricsServerTest, AnEndlessHeadIsRefusedAtItsLimit) {
  start({.head_bytes = 1024});
  EXPECT_EQ(parse_http(say("GET /metrics HTTP/1.1\r\n" + std::string(100'000, 'x'))).status, 431);
  EXPECT_EQ(parse_http(say(std::string(100'000, '\0'))).status, 431);
  EXPECT_EQ(scrapes_, 0);
  expect_serves();
}

TEST_F(MetricsServerTest, HostileBytesAreAnErrorOrNothing) {
  start();
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 64, ' ');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    if (i % 2 == 0) bytes += "\r\n\r\n";
    const std::string answer = say(bytes);
    if (!answer.empty()) {
      EXPECT_GE(parse_http(answer).status, 400) << answer;
    }
  }
  EXPECT_EQ(scrapes_, 0);
  expect_serves();
}

TEST_F(MetricsServerTest, WhoSaysNothingIsHungUpOn) {
  start({.patience = std::chrono::milliseconds(20)});
  const RawConnection silent(server_->address());
  const RawConnection half(server_->address());
  half.send("GET /metrics HTTP/1.1\r\n");
  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
}

TEST_F(MetricsServerTest, SlowClientsKeepNobodyOut) {
  start({.connections = 4, .patience = std::chrono::hours(1)});
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server_->address()));
    slow.back()->send("GET /metr");
  }
  expect_serves();
  // The oldest made room.
  EXPECT_EQ(slow.front()->read_to_end(), "");
}

TEST_F(MetricsServerTest, WhoGoesOnSendingIsHungUpOn) {
  start({.patience = std::chrono::hours(1)});
  const RawConnection connection(server_->address());
  ASSERT_TRUE(connection.send("GET /metrics HTTP/1.1\r\n\r\n"));
  const std::string junk(1 << 16, 'x');
  int sent = 0;
  while (connection.send(junk)) ASSERT_LT(++sent, 10'000) << "it takes whatever comes";
  expect_serves();
}

TEST_F(MetricsServerTest, ManyScrapeAtOnce) {
  start();
  std::atomic<int> served{0};
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        for (int n = 0; n < 25; ++n) {
          if (http_get(server_->address(), "/metrics").status == 200) ++served;
        }
      });
    }
  }
  EXPECT_EQ(served, 200);
  EXPECT_EQ(scrapes_, 200);
}

TEST_F(MetricsServerTest, AFailureToCollectIsAnAnswer) {
  start();
  broken_ = true;
  EXPECT_EQ(http_get(server_->address(), "/metrics").status, 500);
  broken_ = false;
  expect_serves();
}

TEST_F(MetricsServerTest, EndsWithClientsConnected) {
  start({.patience = std::chrono::hours(1)});
  const RawConnection waiting(server_->address());
  expect_serves();
  const std::string address = server_->address();
  server_.reset();
  EXPECT_EQ(waiting.read_to_end(), "");
  EXPECT_EQ(http_get(address, "/metrics").status, 0);
}

}  // namespace
}  // namespace pareto::metrics
