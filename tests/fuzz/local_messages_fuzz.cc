// Any line as one of those that programs of one user say to each other over unix sockets: refused
// with words, or read, written and read again as it was.
//
//   input = 0: a fault to begin or end, 1: its answer, 2: a question to a running deploy, 3: its
//   answer; then the line
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "client/commands/control_lines.h"
#include "coordinator/cluster/fault_wire.h"
#include "core/base/json_text.h"
#include "tests/fuzz/text.h"

namespace pareto {
namespace {

void check_fault(const std::string& line) {
  const auto read = cluster::parse_fault_request(line);
  if (!read) return;
  const std::string written = cluster::to_line(*read);
  const auto again = cluster::parse_fault_request(written);
  if (!again || cluster::to_line(*again) != written) std::abort();
}

void check_fault_answer(const std::string& line) {
  const auto read = cluster::parse_fault_answer(line);
  const std::string written = cluster::answer_line(read);
  const auto again = cluster::parse_fault_answer(written);
  if (again.has_value() != read.has_value() || cluster::answer_line(again) != written) {
    std::abort();
  }
}

void check_question(const std::string& line) {
  const auto object = client::commands::object_in(line);
  if (!object) return;
  static_cast<void>(client::commands::text_at(*object, "ask"));
  const auto question = client::commands::resplit_question(*object);
  if (!question || !question->plan) return;
  const std::string plan = plan::to_json(*question->plan);
  const auto again = client::commands::resplit_question({{"plan", nlohmann::json::parse(plan)}});
  if (!again || !again->plan || plan::to_json(*again->plan) != plan) std::abort();
}

void check_answer(const std::string& line) {
  const auto read = client::commands::control_answer(line);
  if (!read) return;
  const std::string written = dump(*read);
  const auto again = client::commands::control_answer(written);
  if (!again || *again != *read) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string line = fuzz::text_of(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_fault(line);
      break;
    case 1:
      check_fault_answer(line);
      break;
    case 2:
      check_question(line);
      break;
    default:
      check_answer(line);
  }
  return 0;
}

}  // namespace pareto
