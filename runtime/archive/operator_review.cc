#include "runtime/archive/operator_review.h"

#include <mutex>
#include <set>
#include <unordered_map>

namespace pareto::runtime {
namespace {

using Reviews = std::unordered_map<std::string, OperatorReview>;

void add_groups(std::span<const OperatorGroup> groups, OperatorReview::Verdict verdict,
                Reviews& reviews) {
  for (const OperatorGroup& group : groups) {
    std::string_view rest = group.names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      reviews[fmt::format("{}::{}", group.library, rest.substr(0, end))] = {verdict, group.reason};
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

const Reviews& reviews() {
  static const Reviews kReviews = [] {
    Reviews made;
    add_groups(allowed_operators(), OperatorReview::Verdict::kAllowed, made);
    add_groups(refused_operators(), OperatorReview::Verdict::kRefused, made);
    return made;
  }();
  return kReviews;
}

/// The operators of libraries that the owner loaded. LibTorch's table of them is one of the process
/// as well.
struct OwnersOperators {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
};

OwnersOperators& owners_operators() {
  static OwnersOperators operators;
  return operators;
}

}  // namespace

OperatorReview review_operator(std::string_view name) {
  const auto found = reviews().find(std::string(name));
  if (found != reviews().end()) return found->second;
  OwnersOperators& owners = owners_operators();
  const std::lock_guard lock(owners.mutex);
  if (!owners.names.contains(name)) return {};
  return {OperatorReview::Verdict::kAllowed, "a library that was loaded on this machine has it"};
}

void allow_operator(const std::string& name) {
  OwnersOperators& owners = owners_operators();
  const std::lock_guard lock(owners.mutex);
  owners.names.insert(name);
}

Expected<> check_operator(std::string_view name) {
  const OperatorReview review = review_operator(name);
  switch (review.verdict) {
    case OperatorReview::Verdict::kAllowed:
      return {};
    case OperatorReview::Verdict::kRefused:
      return fail(ErrorCode::kPermission,
                  "no shard may use the operator {}: {}; take it out of the model", name,
                  review.reason);
    case OperatorReview::Verdict::kUnknown:
      break;
  }
  return fail(ErrorCode::kPermission,
              "the operator {} is not one that shards may use; take it out of the model, or load "
              "the library that has it on this device (--operators)",
              name);
}

}  // namespace pareto::runtime
