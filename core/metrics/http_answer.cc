#include "core/metrics/http_answer.h"

#include <fmt/format.h>

#include <algorithm>

namespace pareto::metrics {
namespace {

constexpr std::string_view kTextFormat = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kPage =
    "<!DOCTYPE html><html lang=\"en\"><title>Pareto Edge</title>"
    "<p><a href=\"/metrics\">Metrics</a> for Prometheus</p></html>\n";

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

std::string answer(int status, std::string_view type, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
      status, reason_of(status), type, body.size(), status == 405 ? "Allow: GET\r\n" : "", body);
}

/// Returns the bytes up to the next blank, which are taken off `line` with it.
std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::string http_error(int status, std::string_view why) {
  return answer(
      status, kTextFormat,
      fmt::format("{} {}{}{}\n", status, reason_of(status), why.empty() ? "" : ": ", why));
}

std::string http_answer(std::string_view head, const std::function<std::string()>& metrics) {
  std::string_view line = head.substr(0, head.find("\r\n"));
  const std::string_view method = next_word(line);
  const std::string_view target = next_word(line);
  const std::string_view version = line;
  if (method.empty() || !is_printable(method) || !target.starts_with('/') ||
      !is_printable(target) || !version.starts_with("HTTP/")) {
    return http_error(400);
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return http_error(505);
  if (method != "GET") return http_error(405);
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/metrics") return answer(200, kTextFormat, metrics());
  if (path == "/") return answer(200, "text/html; charset=utf-8", kPage);
  return http_error(404);
}

}  // namespace pareto::metrics
