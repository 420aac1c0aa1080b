// Any text as the value of a flag: refused, or read, written and read again as it was.
//
//   input = the kind of value (kValueReaders), then its text
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "client/commands/batch_range.h"
#include "coordinator/train/learning_rate.h"
#include "core/base/text.h"
#include "partitioner/model/graph/input_shape.h"
#include "partitioner/planning/tasks/arrivals.h"
#include "partitioner/planning/tasks/cost_expression.h"
#include "partitioner/planning/tasks/task_mix.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/text.h"

namespace pareto {
namespace {

using fuzz::check;

void read_expression(const std::string& text) {
  const std::vector<std::string> names{"time", "bytes", "flops", "weights"};
  const auto read = tasks::CostExpression::parse(text, names);
  if (!read) return;
  for (const double value : {0.0, 1.0, 1e300}) {
    static_cast<void>(read->evaluate([value](std::size_t) { return value; }));
  }
  for (const std::string& divisor : read->divisors()) {
    check(tasks::CostExpression::parse(divisor, names).has_value());
  }
}

void read_ratio(const std::string& text) {
  const auto share = tasks::parse_ratio(text);
  if (!share) return;
  check(*share >= 0 && *share <= 1);
  const auto set = tasks::make_mix({.tasks = 7, .heavy_share = *share});
  check(set && set->tasks.size() == 7);
}

void read_arrivals(const std::string& text) {
  // A trace is a file, and may be any of this machine.
  if (text.starts_with("trace:")) return;
  const auto arrivals = tasks::parse_arrivals(text, "/nowhere");
  if (!arrivals) return;
  std::mt19937_64 random(1);
  const auto times = tasks::arrival_times(*arrivals, 20, random);
  check(std::ranges::is_sorted(times) && times.front().count() >= 0);
}

void read_shapes(const std::string& text) {
  const auto shapes = model::parse_input_shapes(text);
  if (!shapes) return;
  const std::string written = model::to_text(*shapes);
  const auto again = model::parse_input_shapes(written);
  check(again && model::to_text(*again) == written && again->size() == shapes->size());
  for (std::size_t i = 0; i < shapes->size(); ++i) {
    const model::InputShape& one = (*shapes)[i];
    const model::InputShape& other = (*again)[i];
    check(one.per_sample == other.per_sample && one.dtype == other.dtype &&
          one.batch_at == other.batch_at && one.range == other.range && one.sizes == other.sizes);
  }
  if (const auto sizes = model::varying_sizes(*shapes)) {
    static_cast<void>(model::with_sizes(*shapes, model::nominal_sizes(*shapes)));
  }
}

void read_learning_rate(const std::string& text) {
  train::LearningRate rate;
  if (!train::read_schedule(text, rate) || !train::check_rate(rate)) return;
  train::LearningRate again;
  check(train::read_schedule(train::schedule_text(rate), again).has_value());
  check(train::schedule_text(again) == train::schedule_text(rate));
  for (const std::int64_t step : {0, 5, 999}) {
    const double value = train::rate_at(rate, {step, 10, 1000});
    check(value >= 0 && value <= rate.base * (1 + 1e-9));
  }
}

void read_batches(const std::string& text) {
  const auto range = client::commands::parse_batch_range(text);
  if (range && *range) check((*range)->least >= 1 && (*range)->least <= (*range)->most);
}

void read_quantities(const std::string& text) {
  static_cast<void>(parse_bytes(text));
  static_cast<void>(parse_power(text));
  static_cast<void>(parse_rate(text));
  if (const auto percentage = parse_percentage(text)) check(std::isfinite(*percentage));
  if (const auto share = parse_share(text)) check(*share >= 0 && *share <= 1);
  if (const auto time = parse_duration(text)) check(time->count() >= 0);
}

constexpr std::array kValueReaders{
    read_expression,     // 0
    read_ratio,          // 1
    read_arrivals,       // 2
    read_shapes,         // 3
    read_learning_rate,  // 4
    read_batches,        // 5
    read_quantities,     // 6
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kValueReaders[data[0] % kValueReaders.size()](fuzz::text_of(data + 1, size - 1));
  return 0;
}

}  // namespace pareto
