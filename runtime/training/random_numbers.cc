#include "runtime/training/random_numbers.h"

#include <ATen/Context.h>

#include <bit>
#include <stdexcept>

#include "runtime/torch/convert.h"

namespace pareto::runtime {
namespace {

std::mutex& generator_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

RandomTurn::RandomTurn(const Value& random, c10::Device device)
    : turn_(generator_mutex()), generator_(at::globalContext().defaultGenerator(device)) {
  if (const auto* seed = random.get_if<std::int64_t>()) {
    generator_.set_current_seed(std::bit_cast<std::uint64_t>(*seed));
  } else if (const auto* state = random.get_if<Tensor>()) {
    generator_.set_state(to_torch(*state).clone());
  } else {
    throw std::runtime_error("it draws random numbers, and came without a seed");
  }
}

Expected<Value> RandomTurn::state() {
  PARETO_ASSIGN(Tensor state, from_torch(generator_.get_state()));
  return Value(std::move(state));
}

}  // namespace pareto::runtime
