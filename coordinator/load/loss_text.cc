#include "coordinator/load/loss_text.h"

#include <fmt/format.h>

#include <cstddef>

namespace pareto::load {
namespace {

/// Leaves out the name that a sentence begins with ("pi-1: no answer") if `loss` says it of a
/// stage.
std::string without_name_in(const std::string& loss, const std::string& sentence) {
  const std::size_t end = sentence.find(": ");
  if (end == std::string::npos) return sentence;
  const std::string name = sentence.substr(0, end + 2);
  return loss.find(" on " + name) == std::string::npos ? sentence : sentence.substr(end + 2);
}

}  // namespace

std::string given_up_text(const std::string& loss, const std::optional<Error>& last, bool stopped,
                          Nanoseconds retry) {
  std::string text = loss;
  if (stopped) text += "; stopped while it was waited for";
  if (!last) return text;
  const std::string still = without_name_in(text, last->message);
  text += stopped ? fmt::format(" ({})", still)
                  : fmt::format("; not back within {:g} s: {}", to_seconds(retry), still);
  return text;
}

}  // namespace pareto::load
