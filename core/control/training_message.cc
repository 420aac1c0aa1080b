#include "core/control/training_message.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/plan/training.h"

namespace pareto::control {
namespace {

using wire::Message;
using wire::MessageKind;

Message message_at(const TrainingPlace& place, MessageKind kind, Tuple body) {
  Message message;
  message.kind = kind;
  message.pipeline = place.pipeline;
  message.request = place.step;
  message.sequence = place.micro_batch;
  message.body = std::move(body);
  return message;
}

tl::unexpected<Error> bad_body(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "a message of training without {}", what);
}

/// Returns the items of a message's body. Fails: kCorrupt (another kind, another number of items).
Expected<std::vector<Value>> items_of(Message message, MessageKind kind, std::size_t count) {
  if (message.kind != kind) {
    return fail(ErrorCode::kCorrupt, "a message of kind {}, not {}", static_cast<int>(message.kind),
                static_cast<int>(kind));
  }
  Tuple* const tuple = message.body.get_if<Tuple>();
  if (tuple == nullptr || tuple->items.size() != count) return bad_body("its parts");
  return std::move(tuple->items);
}

template <typename T>
Expected<T> take(Value& value, std::string_view what) {
  T* const held = value.get_if<T>();
  if (held == nullptr) return bad_body(what);
  return std::move(*held);
}

Expected<double> number_from(Value& value, std::string_view what) {
  PARETO_ASSIGN(const double number, take<double>(value, what));
  if (!std::isfinite(number)) return fail(ErrorCode::kCorrupt, "{} is {}", what, number);
  return number;
}

template <typename T>
Dict dict_of(std::vector<std::pair<std::string, T>> entries) {
  Dict dict;
  for (auto& [name, value] : entries) dict.items.emplace_back(std::move(name), std::move(value));
  return dict;
}

template <typename T>
Expected<std::vector<std::pair<std::string, T>>> entries_from(Value& value, std::string_view what) {
  PARETO_ASSIGN(Dict dict, take<Dict>(value, what));
  std::vector<std::pair<std::string, T>> entries;
  for (auto& [key, held] : dict.items) {
    PARETO_ASSIGN(std::string name, take<std::string>(key, what));
    PARETO_ASSIGN(T entry, take<T>(held, what));
    entries.emplace_back(std::move(name), std::move(entry));
  }
  return entries;
}

Value times_value(const plan::StageStepTimes& times) {
  Tuple tuple{{std::int64_t{times.forward.count()}, std::int64_t{times.backward.count()},
               std::int64_t{times.optimiser.count()}, std::int64_t{times.waiting.count()},
               static_cast<std::int64_t>(times.bytes_sent)}};
  // Daemons of earlier versions take five.
  if (times.bytes_raw != times.bytes_sent) {
    tuple.items.emplace_back(static_cast<std::int64_t>(times.bytes_raw));
  }
  return tuple;
}

Expected<plan::StageStepTimes> times_from(Value& value) {
  PARETO_ASSIGN(Tuple tuple, take<Tuple>(value, "times"));
  if (tuple.items.size() != 5 && tuple.items.size() != 6) return bad_body("five or six times");
  std::vector<std::int64_t> numbers;
  for (Value& item : tuple.items) {
    PARETO_ASSIGN(const std::int64_t number, take<std::int64_t>(item, "times"));
    if (number < 0) return fail(ErrorCode::kCorrupt, "a time of {} ns", number);
    numbers.push_back(number);
  }
  return plan::StageStepTimes{Nanoseconds(numbers[0]),
                              Nanoseconds(numbers[1]),
                              Nanoseconds(numbers[2]),
                              Nanoseconds(numbers[3]),
                              static_cast<std::uint64_t>(numbers[4]),
                              static_cast<std::uint64_t>(numbers.back())};
}

}  // namespace

Message train_message(const TrainingPlace& place, TrainingInputs inputs) {
  List requests;
  for (const bool wanted : inputs.activations.wants_gradient) requests.items.emplace_back(wanted);
  return message_at(place, MessageKind::kTrain,
                    {{Tuple{std::move(inputs.activations.values)}, std::move(requests),
                      std::move(inputs.activations.random), std::int64_t{inputs.micro_batches},
                      inputs.wants_norms}});
}

Expected<TrainingInputs> train_inputs_from(Message message) {
  PARETO_ASSIGN(auto items, items_of(std::move(message), MessageKind::kTrain, 5));
  TrainingInputs inputs;
  PARETO_ASSIGN(Tuple values, take<Tuple>(items[0], "values"));
  inputs.activations.values = std::move(values.items);
  PARETO_ASSIGN(List requests, take<List>(items[1], "requests for gradients"));
  for (Value& request : requests.items) {
    PARETO_ASSIGN(const bool wanted, take<bool>(request, "requests for gradients"));
    inputs.activations.wants_gradient.push_back(wanted);
  }
  inputs.activations.random = std::move(items[2]);
  PARETO_ASSIGN(const auto count, take<std::int64_t>(items[3], "a number of micro-batches"));
  if (count < 1 || count > plan::kMostMicroBatches) {
    return fail(ErrorCode::kCorrupt, "a step of {} micro-batches, not 1 to {}", count,
                plan::kMostMicroBatches);
  }
  inputs.micro_batches = static_cast<std::uint32_t>(count);
  PARETO_ASSIGN(inputs.wants_norms, take<bool>(items[4], "a request for norms"));
  return inputs;
}

Message target_message(const TrainingPlace& place, plan::Target target) {
  return message_at(place, MessageKind::kTrain, {{std::move(target.value), target.weight}});
}

Expected<plan::Target> target_from(Message message) {
  PARETO_ASSIGN(auto items, items_of(std::move(message), MessageKind::kTrain, 2));
  PARETO_ASSIGN(const double weight, number_from(items[1], "the weight of a loss"));
  return plan::Target{std::move(items[0]), weight};
}

Message outcome_message(const TrainingPlace& place, const plan::Outcome& outcome) {
  return message_at(place, MessageKind::kTrain, {{outcome.loss, outcome.correct}});
}

Expected<plan::Outcome> outcome_from(const Message& message) {
  PARETO_ASSIGN(auto items, items_of(message, MessageKind::kTrain, 2));
  // A loss may be infinite or no number: who trains wants to know.
  PARETO_ASSIGN(const double loss, take<double>(items[0], "a loss"));
  PARETO_ASSIGN(const auto correct, take<std::int64_t>(items[1], "a number of correct samples"));
  return plan::Outcome{loss, correct};
}

Message gradient_message(const TrainingPlace& place, plan::Gradients gradients) {
  return message_at(place, MessageKind::kGradient,
                    {{Tuple{std::move(gradients.values)}, dict_of(std::move(gradients.tied)),
                      dict_of(std::move(gradients.norms))}});
}

Expected<plan::Gradients> gradients_from(Message message) {
  PARETO_ASSIGN(auto items, items_of(std::move(message), MessageKind::kGradient, 3));
  plan::Gradients gradients;
  PARETO_ASSIGN(Tuple values, take<Tuple>(items[0], "gradients"));
  gradients.values = std::move(values.items);
  PARETO_ASSIGN(gradients.tied, entries_from<Tensor>(items[1], "gradients of tied parameters"));
  PARETO_ASSIGN(gradients.norms, entries_from<double>(items[2], "norms"));
  return gradients;
}

Message step_message(const TrainingPlace& place, plan::StepCommand command) {
  List times;
  for (const plan::StageStepTimes& stage : command.times) times.items.push_back(times_value(stage));
  return message_at(
      place, MessageKind::kStep,
      {{command.learning_rate, command.scale, dict_of(std::move(command.tied)), std::move(times)}});
}

Expected<plan::StepCommand> step_from(Message message) {
  PARETO_ASSIGN(auto items, items_of(std::move(message), MessageKind::kStep, 4));
  plan::StepCommand command;
  PARETO_ASSIGN(command.learning_rate, number_from(items[0], "the learning rate"));
  PARETO_ASSIGN(command.scale, number_from(items[1], "the scale of gradients"));
  PARETO_ASSIGN(command.tied, entries_from<Tensor>(items[2], "gradients of tied parameters"));
  PARETO_ASSIGN(List times, take<List>(items[3], "times"));
  for (Value& stage : times.items) {
    PARETO_ASSIGN(plan::StageStepTimes read, times_from(stage));
    command.times.push_back(read);
  }
  return command;
}

}  // namespace pareto::control
