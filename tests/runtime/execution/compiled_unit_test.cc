#include "runtime/execution/compiled_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using schedules::Timetable;
using Values = std::vector<c10::IValue>;

constexpr const char* kDiamond = R"(
def run(self, x):
    a = torch.relu(x)
    b = a * 2
    c = torch.tanh(a)
    d = b + c
    return (d, a, x)
)";

EngineGraph diamond_graph() { return builtin_engines()[0].prepare(test::written_module(kDiamond)); }

/// Runs units in their order, then what puts the result together.
Values run_units(const std::vector<CompiledUnit>& units, const CompiledUnit& result,
                 const EngineGraph& engine, const OperatorGraph& operators, const at::Tensor& x) {
  Values values(operators.values());
  values[0] = engine.self;
  values[1] = x;
  const auto run = [&](const CompiledUnit& unit) {
    torch::jit::Stack stack;
    for (const std::size_t input : unit.inputs) {
      EXPECT_FALSE(values[input].isNone()) << "value " << input << " is not made yet";
      stack.push_back(values[input]);
    }
    torch::jit::InterpreterState(unit.code).run(stack);
    return stack;
  };
  for (const CompiledUnit& unit : units) {
    const auto made = run(unit);
    EXPECT_EQ(made.size(), unit.outputs.size());
    for (std::size_t i = 0; i < made.size(); ++i) values[unit.outputs[i]] = made[i];
  }
  return run(result).back().toTupleRef().elements().vec();
}

TEST(CompileUnits, AnyUnitsOfNeighboursGiveTheSameResult) {
  const c10::InferenceMode inference;
  std::mt19937 random(83);
  const EngineGraph engine = diamond_graph();
  const OperatorGraph operators(engine.graph->copy());
  ASSERT_EQ(operators.size(), 4U);
  const at::Tensor x = at::randn({3, 3});
  for (unsigned cuts = 0; cuts < 8; ++cuts) {
    Timetable timetable;
    timetable.units.push_back({.operators = {0}});
    for (std::size_t op = 1; op < 4; ++op) {
      if ((cuts >> (op - 1) & 1U) != 0) timetable.units.emplace_back();
      timetable.units.back().operators.push_back(op);
    }
    const auto units = compile_units(timetable, operators);
    ASSERT_EQ(units.size(), timetable.units.size());
    const Values result = run_units(units, compile_result(operators), engine, operators, x);
    ASSERT_EQ(result.size(), 3U);
    EXPECT_TRUE(result[0].toTensor().equal(at::relu(x) * 2 + at::tanh(at::relu(x)))) << cuts;
    EXPECT_TRUE(result[1].toTensor().equal(at::relu(x)));
    EXPECT_TRUE(result[2].toTensor().is_same(x));
  }
}

TEST(CompileUnits, AUnitGivesOnlyWhatOthersOrTheResultRead) {
  const EngineGraph engine = diamond_graph();
  const OperatorGraph operators(engine.graph->copy());
  Timetable timetable;
  timetable.units = {{.operators = {0, 1}}, {.operators = {2, 3}}};
  const auto units = compile_units(timetable, operators);
  const auto value = [&](std::size_t op) { return operators.made_by(op)[0]; };
  EXPECT_THAT(units[0].outputs, testing::UnorderedElementsAre(value(0), value(1)));
  EXPECT_THAT(units[1].inputs, testing::UnorderedElementsAre(value(0), value(1)));
  EXPECT_THAT(units[1].outputs, testing::ElementsAre(value(3))) << "2 is its own affair";
  EXPECT_THAT(compile_result(operators).inputs,
              testing::UnorderedElementsAre(value(3), value(0), std::size_t{1}));
}

TEST(CompileUnits, WithOnePartEveryUnitIsWhole) {
  const EngineGraph engine = diamond_graph();
  const OperatorGraph operators(engine.graph->copy());
  Timetable timetable;
  timetable.units = {{.operators = {0, 1}}, {.operators = {2, 3}, .whole = true}};
  EXPECT_TRUE(compile_units(timetable, operators)[0].whole);
  timetable.parts = 2;
  EXPECT_FALSE(compile_units(timetable, operators)[0].whole);
  EXPECT_TRUE(compile_units(timetable, operators)[1].whole);
  EXPECT_TRUE(compile_result(operators).whole);
}

TEST(CompileUnits, OfNothingThereAreNone) {
  const EngineGraph engine =
      builtin_engines()[0].prepare(test::written_module("def run(self, x):\n    return (x, 2)\n"));
  const OperatorGraph operators(engine.graph->copy());
  EXPECT_TRUE(compile_units({}, operators).empty());
  const at::Tensor x = at::ones({1});
  const Values result = run_units({}, compile_result(operators), engine, operators, x);
  EXPECT_TRUE(result[0].toTensor().is_same(x));
  EXPECT_EQ(result[1].toInt(), 2);
}

}  // namespace
}  // namespace pareto::runtime
