#include "coordinator/train/learning_rate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "core/base/text.h"

namespace pareto::train {
namespace {

constexpr std::int64_t kMostEpochsBetween = 1'000'000;

template <typename Number>
std::optional<Number> whole_text_as(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || at != end) return std::nullopt;
  return number;
}

tl::unexpected<Error> no_schedule(const std::string& text) {
  return fail(ErrorCode::kInvalidArgument,
              "{} is no schedule of learning rates: constant, step:EPOCHS[:FACTOR] or "
              "cosine[:LEAST] is needed, as in step:30:0.1",
              text);
}

}  // namespace

double rate_at(const LearningRate& rate, const StepPlace& place) {
  if (place.step < rate.warm_up) {
    return rate.base * static_cast<double>(place.step + 1) / static_cast<double>(rate.warm_up);
  }
  if (rate.schedule == kStepRate) {
    const std::int64_t changes = place.step / place.steps_per_epoch / rate.epochs;
    return rate.base * std::pow(rate.factor, static_cast<double>(changes));
  }
  if (rate.schedule == kCosineRate) {
    const auto all = static_cast<double>(std::max<std::int64_t>(place.steps - rate.warm_up, 1));
    const double share = std::min(static_cast<double>(place.step - rate.warm_up) / all, 1.0);
    return rate.least + (rate.base - rate.least) * (1 + std::cos(std::numbers::pi * share)) / 2;
  }
  return rate.base;
}

Expected<> read_schedule(const std::string& text, LearningRate& rate) {
  const std::vector<std::string> parts = split_list(text, ':');
  if (parts.empty()) return no_schedule(text);
  LearningRate read = rate;
  read.schedule = parts.front();
  if (read.schedule == kConstantRate && parts.size() == 1) {
    rate = read;
    return {};
  }
  if (read.schedule == kStepRate && (parts.size() == 2 || parts.size() == 3)) {
    const auto epochs = whole_text_as<std::int64_t>(parts[1]);
    const auto factor =
        parts.size() == 3 ? whole_text_as<double>(parts[2]) : std::optional(LearningRate{}.factor);
    if (!epochs || !factor) return no_schedule(text);
    read.epochs = *epochs;
    read.factor = *factor;
  } else if (read.schedule == kCosineRate && parts.size() <= 2) {
    const auto least =
        parts.size() == 2 ? whole_text_as<double>(parts[1]) : std::optional(LearningRate{}.least);
    if (!least) return no_schedule(text);
    read.least = *least;
  } else {
    return no_schedule(text);
  }
  rate = read;
  return {};
}

std::string schedule_text(const LearningRate& rate) {
  if (rate.schedule == kStepRate) return fmt::format("step:{}:{}", rate.epochs, rate.factor);
  if (rate.schedule == kCosineRate && rate.least != 0) return fmt::format("cosine:{}", rate.least);
  return rate.schedule;
}

Expected<> check_rate(const LearningRate& rate) {
  if (!std::isfinite(rate.base) || rate.base <= 0) {
    return fail(ErrorCode::kInvalidArgument, "a learning rate of {}: it should be above 0",
                rate.base);
  }
  if (rate.schedule != kConstantRate && rate.schedule != kStepRate &&
      rate.schedule != kCosineRate) {
    return no_schedule(rate.schedule);
  }
  if (rate.epochs < 1 || rate.epochs > kMostEpochsBetween) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the epochs between two changes should be 1 to {}, not {}", schedule_text(rate),
                kMostEpochsBetween, rate.epochs);
  }
  if (!(rate.factor > 0 && rate.factor <= 1)) {
    return fail(ErrorCode::kInvalidArgument, "{}: the factor should be above 0 and at most 1",
                schedule_text(rate));
  }
  if (!(rate.least >= 0 && rate.least <= rate.base)) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the rate at the end should be from 0 to the learning rate, {}",
                schedule_text(rate), rate.base);
  }
  if (rate.warm_up < 0) {
    return fail(ErrorCode::kInvalidArgument, "a warm-up of {} steps: it cannot be below 0",
                rate.warm_up);
  }
  return {};
}

}  // namespace pareto::train
