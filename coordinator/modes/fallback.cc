#include "coordinator/modes/fallback.h"

#include "core/base/text.h"

namespace pareto::modes {

std::string fallback_text(const std::string& kept, const std::string& precision_reason,
                          const std::vector<Tried>& tried) {
  std::vector<std::string> parts;
  if (!precision_reason.empty()) parts.push_back(precision_reason);
  std::vector<std::string> failures;
  for (const Tried& one : tried) {
    if (!one.failure.empty()) failures.push_back(one.engine + ": " + one.failure);
  }
  if (kept == "plain" && tried.size() > 1 && failures.size() + 1 < tried.size()) {
    parts.emplace_back("plain is the fastest engine here");
  }
  if (kept == "plain" && tried.size() == 1 && failures.empty()) {
    parts.emplace_back("no other engine was tried");
  }
  if (!failures.empty()) parts.push_back("not used: " + join(failures, "; "));
  return join(parts, "; ");
}

}  // namespace pareto::modes
