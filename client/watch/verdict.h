// The verdict of a check of check_health() on one thing.
#pragma once

#include <string>
#include <utility>

#include "client/watch/health.h"

namespace pareto::watch {

/// The result of a check, without its subject, which the caller knows.
struct Verdict {
  Severity severity = Severity::kOk;
  std::string found;
  std::string remedy;
};

inline Verdict ok(std::string found) { return {Severity::kOk, std::move(found), ""}; }
inline Verdict warn(std::string found, std::string remedy) {
  return {Severity::kWarn, std::move(found), std::move(remedy)};
}
inline Verdict failed(std::string found, std::string remedy) {
  return {Severity::kFail, std::move(found), std::move(remedy)};
}

/// Returns what a check found about a subject.
inline Finding finding(std::string subject, std::string check, Verdict verdict) {
  return {std::move(subject), std::move(check), verdict.severity, std::move(verdict.found),
          std::move(verdict.remedy)};
}

}  // namespace pareto::watch
