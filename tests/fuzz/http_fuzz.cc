// Any bytes as the head of an HTTP request: the answer is a whole one, whatever they are.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/metrics/http_answer.h"
#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int collected = 0;
  const std::string answer =
      pareto::metrics::http_answer(pareto::fuzz::text_of(data, size), [&collected] {
        ++collected;
        return std::string("up 1\n");
      });
  const std::size_t end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || end == std::string::npos) std::abort();
  const std::string head = answer.substr(0, end + 2);
  const std::string length =
      "\r\nContent-Length: " + std::to_string(answer.size() - end - 4) + "\r\n";
  if (head.find(length) == std::string::npos) std::abort();
  // Only a GET of /metrics is worth the work.
  const bool is_scrape = answer.ends_with("\r\n\r\nup 1\n");
  if (collected != (is_scrape ? 1 : 0)) std::abort();
  return 0;
}
