#include "runtime/execution/scheduled_engine.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/base/spin.h"
#include "runtime/execution/compiled_unit.h"
#include "runtime/execution/joined_value.h"
#include "runtime/execution/planned_turn.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/memory_limit.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

namespace jit = torch::jit;
using schedules::Timetable;
using schedules::Turn;
using Clock = std::chrono::steady_clock;

/// Waits until the flag holds the run's number: awake at first, then asleep.
void await(const std::atomic<std::uint32_t>& flag, std::uint32_t run) {
  if (spin_until([&] { return flag.load(std::memory_order_acquire) == run; })) return;
  for (std::uint32_t seen = flag.load(std::memory_order_acquire); seen != run;
       seen = flag.load(std::memory_order_acquire)) {
    flag.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace

struct ScheduledEngine::Impl {
  Impl(const EngineGraph& graph, const OperatorGraph& operators,
       std::vector<std::vector<c10::IValue>> extras_of_parts, Timetable table, BatchRule batch_rule,
       int thread_count, ThreadPool& thread_pool)
      : timetable(std::move(table)),
        rule(std::move(batch_rule)),
        threads(thread_count),
        pool(thread_pool),
        self(graph.self),
        extras(std::move(extras_of_parts)),
        packed(graph.packed),
        pooled(graph.pooled),
        change(graph.layout, graph.precision),
        passed_through(find_passed_through(graph.graph)),
        first_extra(graph.graph->inputs().size() - graph.extra.size()),
        first_made(operators.first_made()),
        values(operators.values()),
        units(compile_units(timetable, operators)),
        join(compile_result(operators)),
        phases(plan_turns(timetable, operators.weighted())),
        slots(timetable.parts * values),
        uses(timetable.parts * values),
        busy(std::max<std::size_t>(timetable.workers(), 1)) {
    count_uses();
    find_joined();
    std::size_t turns = 0;
    for (const PlannedPhase& phase : phases) {
      for (const auto& worker : phase) turns += worker.size();
    }
    done = std::vector<std::atomic<std::uint32_t>>(turns);
  }

  /// Returns the slot of a value as that part sees it: arguments and what whole units made have one
  /// for all parts.
  std::size_t slot_of(std::size_t value, std::size_t part) const { return part * values + value; }

  void count_uses() {
    whole_value.assign(values, true);
    for (const CompiledUnit& unit : units) {
      for (const std::size_t value : unit.outputs) whole_value[value] = unit.whole;
    }
    use_counts.assign(timetable.parts * values, 0);
    const auto count = [&](const CompiledUnit& unit, std::size_t part) {
      for (const std::size_t value : unit.inputs) {
        if (whole_value[value]) {
          ++use_counts[slot_of(value, 0)];
        } else if (unit.whole) {
          for (std::size_t each = 0; each < timetable.parts; ++each) {
            ++use_counts[slot_of(value, each)];
          }
        } else {
          ++use_counts[slot_of(value, part)];
        }
      }
    };
    for (const PlannedPhase& phase : phases) {
      for (const auto& worker : phase) {
        for (const PlannedTurn& one : worker) count(units[one.turn.unit], one.turn.part);
      }
    }
    count(join, 0);
  }

  /// Finds the values that parts make and the result or a whole unit takes.
  void find_joined() {
    joined_of.assign(values, nullptr);
    if (timetable.parts == 1) return;
    const auto find = [&](const CompiledUnit& unit) {
      for (const std::size_t value : unit.inputs) {
        if (!unit.whole || whole_value[value] || !rule.batched[value]) continue;
        if (joined_of[value] != nullptr) continue;
        joined_of[value] = &joined.emplace_back(timetable.parts);
      }
    };
    for (const CompiledUnit& unit : units) find(unit);
    find(join);
  }

  /// Returns what stands in a slot; the last of those that ask for it gets the only reference.
  c10::IValue take(std::size_t slot) {
    c10::IValue value = slots[slot];
    if (uses[slot].fetch_sub(1, std::memory_order_acq_rel) == 1) slots[slot] = {};
    return value;
  }

  /// Returns samples [first, last) of a value of the whole batch.
  c10::IValue cut(const c10::IValue& value, std::size_t number, std::size_t part) const {
    if (parts == 1 || !rule.batched[number] || !value.isTensor()) return value;
    return rows_of(value.toTensor(), part);
  }

  at::Tensor rows_of(const at::Tensor& whole, std::size_t part) const {
    const std::int64_t begin = first_of(part);
    return whole.narrow(0, begin, first_of(part + 1) - begin);
  }

  std::int64_t first_of(std::size_t part) const {
    return rule.batch * static_cast<std::int64_t>(part) / static_cast<std::int64_t>(parts);
  }

  c10::IValue input_of(const CompiledUnit& unit, std::size_t value, std::size_t part) {
    // The module's object and extra values stay.
    if (value == 0) return self;
    if (value < first_made && value >= first_extra) return extras[part][value - first_extra];
    if (whole_value[value]) {
      c10::IValue whole = take(slot_of(value, 0));
      return unit.whole ? whole : cut(whole, value, part);
    }
    if (!unit.whole) return take(slot_of(value, part));
    if (parts == 1) return take(slot_of(value, 0));
    std::vector<c10::IValue> pieces;
    for (std::size_t each = 0; each < parts; ++each) pieces.push_back(take(slot_of(value, each)));
    if (!rule.batched[value] || !pieces[0].isTensor()) return pieces[0];
    return put_together(*joined_of[value], pieces);
  }

  at::Tensor put_together(JoinedValue& value, const std::vector<c10::IValue>& pieces) {
    if (written != nullptr) {
      const std::lock_guard lock(record_mutex);
      ++written->joined;
      if (!value.is_placed()) ++written->copied;
    }
    return value.put_together(pieces);
  }

  /// Runs a unit on a part, each of the values that will be joined in its place.
  void run_unit(const CompiledUnit& unit, std::size_t part, jit::Stack& stack) {
    if (parts == 1 || joined.empty() || unit.whole) {
      jit::InterpreterState(unit.code).run(stack);
      return;
    }
    std::vector<OutputPlace*> places;
    for (const std::size_t value : unit.outputs) {
      if (joined_of[value] == nullptr) continue;
      OutputPlace& place = joined_of[value]->places[part];
      const at::Tensor& whole = joined_of[value]->whole;
      place.want(whole.defined() ? rows_of(whole, part) : at::Tensor());
      places.push_back(&place);
    }
    {
      const OutputPlace::Scope scope(std::move(places));
      jit::InterpreterState(unit.code).run(stack);
    }
    for (std::size_t i = 0; i < unit.outputs.size(); ++i) {
      JoinedValue* const value = joined_of[unit.outputs[i]];
      if (value == nullptr || !stack[i].isTensor()) continue;
      value->placed[part] = value->places[part].settle(stack[i].toTensor()) ? 1 : 0;
    }
  }

  void run_turn(const PlannedTurn& planned, std::size_t worker) {
    const auto [number, part] = planned.turn;
    const CompiledUnit& unit = units[number];
    // A batch that is not cut runs as the first part.
    if (part >= parts) return;
    for (const std::size_t awaited : planned.awaited) await(done[awaited], generation);
    if (failed.load(std::memory_order_relaxed)) return;
    const auto begin = Clock::now();
    jit::Stack stack;
    stack.reserve(std::max(unit.inputs.size(), unit.outputs.size()));
    for (const std::size_t value : unit.inputs) stack.push_back(input_of(unit, value, part));
    run_unit(unit, part, stack);
    for (std::size_t i = 0; i < unit.outputs.size(); ++i) {
      slots[slot_of(unit.outputs[i], part)] = std::move(stack[i]);
    }
    const auto end = Clock::now();
    busy[worker].fetch_add(Nanoseconds(end - begin).count(), std::memory_order_relaxed);
    if (written != nullptr) write(planned.turn, worker, begin, end);
  }

  void write(const Turn& turn, std::size_t worker, Clock::time_point begin, Clock::time_point end) {
    const std::lock_guard lock(record_mutex);
    written->turns.push_back({worker, turn.unit, turn.part, begin - started, end - started});
    if (turn.part != 0) return;
    for (const std::size_t value : units[turn.unit].outputs) {
      const c10::IValue& made = slots[slot_of(value, 0)];
      if (!made.isTensor() || !made.toTensor().defined() || made.toTensor().is_mkldnn()) continue;
      written->sizes[value] = made.toTensor().sizes().vec();
      written->bytes[value] = made.toTensor().nbytes();
    }
  }

  /// Takes a worker's turns. Turns after one that failed are passed over, so that nobody waits for
  /// them.
  void work(const std::vector<PlannedTurn>& planned, std::size_t worker) {
    for (const PlannedTurn& one : planned) {
      try {
        run_turn(one, worker);
      } catch (...) {
        const std::lock_guard lock(record_mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
      done[one.number].store(generation, std::memory_order_release);
      done[one.number].notify_all();
    }
  }

  void run_phase(std::size_t number) {
    const PlannedPhase& phase = phases[number];
    if (phase.size() == 1) {
      const bool all = timetable.phases[number].all_threads;
      // Kernels of a pooled graph share the pool, where LibTorch's own threads would be in the way.
      const bool shares = all && !pooled;
      if (shares) set_thread_count(threads);
      const PoolScope scope(all ? &pool : nullptr);
      const std::int64_t before = busy[0].load(std::memory_order_relaxed);
      work(phase[0], 0);
      if (shares) set_thread_count(1);
      const std::int64_t took = busy[0].load(std::memory_order_relaxed) - before;
      for (std::size_t worker = 1; all && worker < busy.size(); ++worker) {
        busy[worker].fetch_add(took, std::memory_order_relaxed);
      }
      return;
    }
    const std::atomic<bool>* const stop = current_stop();
    MemoryAccount* const memory = current_memory_account();
    pool.run(static_cast<int>(phase.size()), [&](int worker) {
      DropWarnings drop;
      const warning_api::WarningHandlerGuard quiet(&drop);
      const c10::InferenceMode inference;
      const StopScope stop_scope(stop);
      const MemoryScope memory_scope(memory);
      work(phase[static_cast<std::size_t>(worker)], static_cast<std::size_t>(worker));
    });
  }

  /// Frees what a run left that failed.
  void clear() {
    for (c10::IValue& slot : slots) slot = {};
    for (JoinedValue& value : joined) value.whole.reset();
  }

  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs) {
    const auto free_all = c10::make_scope_exit([this] { clear(); });
    std::vector<c10::IValue> unchanged(passed_through.size());
    for (std::size_t i = 0; i < unchanged.size(); ++i) {
      if (passed_through[i] >= 0)
        unchanged[i] = inputs[static_cast<std::size_t>(passed_through[i])];
    }
    // LibTorch's threads spin for milliseconds after their work, where the workers are.
    std::optional<OneThread> alone;
    if (pooled) alone.emplace();
    if (!pooled) set_thread_count(1);
    const auto restore = c10::make_scope_exit([this] {
      if (!pooled) set_thread_count(threads);
    });
    parts = is_cut(inputs) ? timetable.parts : 1;
    for (JoinedValue& value : joined) {
      if (parts > 1) value.renew();
    }
    for (std::size_t i = 0; i < uses.size(); ++i) {
      uses[i].store(use_counts[i], std::memory_order_relaxed);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (use_counts[i + 1] > 0) slots[i + 1] = change.apply(inputs[i]);
    }
    inputs.clear();
    ++generation;
    failed = false;
    started = Clock::now();
    for (std::size_t phase = 0; phase < phases.size() && !failed; ++phase) run_phase(phase);
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    jit::Stack stack;
    for (const std::size_t value : join.inputs) stack.push_back(input_of(join, value, 0));
    jit::InterpreterState(join.code).run(stack);
    std::vector<c10::IValue> outputs = results_in(stack.back(), passed_through.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (passed_through[i] >= 0) outputs[i] = std::move(unchanged[i]);
    }
    return outputs;
  }

  /// Returns whether these arguments are of the batch that is cut.
  bool is_cut(const std::vector<c10::IValue>& inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (timetable.parts == 1 || !rule.batched[i + 1] || !inputs[i].isTensor()) continue;
      return inputs[i].toTensor().dim() > 0 && inputs[i].toTensor().size(0) == rule.batch;
    }
    return false;
  }

  const Timetable timetable;
  const BatchRule rule;
  const int threads;
  ThreadPool& pool;
  const c10::IValue self;
  const std::vector<std::vector<c10::IValue>> extras;
  const std::shared_ptr<const kernels::PackedWeights> packed;
  const bool pooled;
  ArgumentChange change;
  const std::vector<std::ptrdiff_t> passed_through;
  const std::size_t first_extra;
  const std::size_t first_made;
  const std::size_t values;
  const std::vector<CompiledUnit> units;
  const CompiledUnit join;  ///< puts the result together
  const std::vector<PlannedPhase> phases;
  std::deque<JoinedValue> joined;
  std::vector<JoinedValue*> joined_of;  ///< value numbers to joined values; null: it is not joined
  std::vector<bool> whole_value;        ///< tells by a value's number whether all parts share it
  std::vector<int> use_counts;

  // The state of the run that goes on:
  std::size_t parts = 1;
  std::uint32_t generation = 0;
  Clock::time_point started{};
  std::vector<c10::IValue> slots;
  std::vector<std::atomic<int>> uses;
  std::vector<std::atomic<std::uint32_t>> done;
  std::vector<std::atomic<std::int64_t>> busy;  ///< nanoseconds of each worker, of all runs
  std::atomic<bool> failed{false};
  std::mutex record_mutex;
  std::exception_ptr failure;
  Record* written = nullptr;
};

ScheduledEngine::ScheduledEngine(const EngineGraph& graph, const OperatorGraph& operators,
                                 std::vector<std::vector<c10::IValue>> extras, Timetable timetable,
                                 BatchRule rule, int threads, ThreadPool& pool)
    : impl_(std::make_unique<Impl>(graph, operators, std::move(extras), std::move(timetable),
                                   std::move(rule), threads, pool)) {}
ScheduledEngine::~ScheduledEngine() = default;

std::vector<c10::IValue> ScheduledEngine::run(std::vector<c10::IValue> inputs, EarlyResults*) {
  return impl_->run(std::move(inputs));
}

std::uint64_t ScheduledEngine::packed_bytes() const {
  return kernels::bytes_of(impl_->packed.get());
}

std::vector<Nanoseconds> ScheduledEngine::worker_times() const {
  std::vector<Nanoseconds> times;
  for (const auto& worker : impl_->busy) times.emplace_back(worker.load(std::memory_order_relaxed));
  return times;
}

void ScheduledEngine::record(Record* record) {
  impl_->written = record;
  if (record == nullptr) return;
  record->turns.clear();
  record->joined = 0;
  record->copied = 0;
  record->sizes.assign(impl_->values, {});
  record->bytes.assign(impl_->values, 0);
}

}  // namespace pareto::runtime
