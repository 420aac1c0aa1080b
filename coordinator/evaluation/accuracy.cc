#include "coordinator/evaluation/accuracy.h"

#include <algorithm>

namespace pareto::evaluation {

Accuracy accuracy_of(std::span<const Answer> answers, std::int64_t classes) {
  constexpr int kBest = 5;
  const auto within = [&](std::int32_t places) {
    return statistics::Proportion{
        std::ranges::count_if(answers, [&](const Answer& answer) { return answer.place < places; }),
        static_cast<std::int64_t>(answers.size())};
  };
  Accuracy accuracy{within(1), {}};
  if (classes > kBest) accuracy.top5 = within(kBest);
  return accuracy;
}

Agreement agreement_of(std::span<const Answer> uncut, std::span<const Answer> answers) {
  const std::size_t count = std::min(uncut.size(), answers.size());
  const auto of = static_cast<std::int64_t>(count);
  Agreement agreement{{0, of}, {0, of}};
  for (std::size_t i = 0; i < count; ++i) {
    if (uncut[i].best >= 0 && uncut[i].best == answers[i].best) ++agreement.best.count;
    if (uncut[i].bits == answers[i].bits) ++agreement.bits.count;
  }
  return agreement;
}

}  // namespace pareto::evaluation
