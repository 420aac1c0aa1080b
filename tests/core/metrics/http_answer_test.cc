// What is answered to which bytes.
#include "core/metrics/http_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/http.h"

namespace pareto::metrics {
namespace {

using test::parse_http;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string metrics() { return "up 1\n"; }
int status_of(const std::string& head) { return parse_http(http_answer(head, metrics)).status; }

TEST(HttpAnswer, AScrapeGetsTheMetrics) {
  const std::string answer =
      http_answer("GET /metrics HTTP/1.1\r\nHost: pi:7073\r\nAccept: text/plain\r\n\r\n", metrics);
  EXPECT_EQ(answer,
            "HTTP/1.1 200 OK\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 5\r\n"
            "Connection: close\r\n\r\n"
            "up 1\n");
  EXPECT_EQ(status_of("GET /metrics HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(status_of("GET /metrics?format=text HTTP/1.1\r\n\r\n"), 200);
}

TEST(HttpAnswer, ABrowserGetsAPageThatLinksThere) {
  const auto page = parse_http(http_answer("GET / HTTP/1.1\r\n\r\n", metrics));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, HasSubstr("text/html"));
  EXPECT_THAT(page.body, HasSubstr("href=\"/metrics\""));
}

TEST(HttpAnswer, AllElseIsAnError) {
  EXPECT_EQ(status_of("GET /metric HTTP/1.1\r\n\r\n"), 404);
  EXPECT_EQ(status_of("GET /metrics/ HTTP/1.1\r\n\r\n"), 404);
  EXPECT_EQ(status_of("GET /../etc/passwd HTTP/1.1\r\n\r\n"), 404);
  EXPECT_EQ(status_of("POST /metrics HTTP/1.1\r\n\r\n"), 405);
  EXPECT_THAT(http_answer("DELETE / HTTP/1.1\r\n\r\n", metrics), HasSubstr("\r\nAllow: GET\r\n"));
  EXPECT_EQ(status_of("GET /metrics HTTP/2.0\r\n\r\n"), 505);
  for (const char* bad :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n", "GET  /metrics HTTP/1.1\r\n\r\n",
        "GET metrics HTTP/1.1\r\n\r\n", "GET /a\tb HTTP/1.1\r\n\r\n", "G\x01T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 x\n", "GET http://pi/metrics HTTP/1.1\r\n\r\n", "\xff\xfe\r\n\r\n"}) {
    EXPECT_THAT(status_of(bad), AnyOf(400, 505)) << bad;
  }
}

TEST(HttpAnswer, AnErrorSaysItsNumberOnce) {
  const auto error = parse_http(http_error(431));
  EXPECT_EQ(error.status, 431);
  EXPECT_EQ(error.body, "431 Request Header Fields Too Large\n");
}

TEST(HttpAnswer, AnyBytesGetAWholeAnswer) {
  std::mt19937 random(7);
  const std::string pieces[]{"GET", " ", "/", "/metrics", "HTTP/1.1", "\r\n", "\n", "?", "\x80"};
  for (int i = 0; i < 20'000; ++i) {
    std::string head;
    for (auto words = random() % 9; words > 0; --words) {
      head += random() % 4 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                : pieces[random() % std::size(pieces)];
    }
    const std::string answer = http_answer(head, metrics);
    ASSERT_THAT(answer, StartsWith("HTTP/1.1 "));
    const auto parsed = parse_http(answer);
    ASSERT_THAT(parsed.head, HasSubstr("Content-Length: " + std::to_string(parsed.body.size())));
  }
}

}  // namespace
}  // namespace pareto::metrics
