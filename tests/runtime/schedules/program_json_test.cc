#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/schedules/program.h"

namespace pareto::schedules {
namespace {

TEST(ProgramJson, JsonByteForByte) {
  const auto program = program_from_yaml(
      "units: [{modules: [\"a\\\"\\u00e4.*\"], join: true, tags: [memory]}]\n"
      "split: {parts: 2}\norder: [{tag: memory}, {part: later}]\n"
      "workers: [{name: a, takes: [memory]}]\nmost_memory: 1KiB\n",
      "p.yaml");
  // No worker takes "other", which concerns a graph, and not the text.
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(to_json(*program),
            "{\"units\":[{\"modules\":[\"a\\\"\u00e4.*\"],\"join\":true,\"tags\":[\"memory\"]}],"
            "\"split\":{\"parts\":2,\"at_least\":1},"
            "\"order\":[{\"tag\":\"memory\"},{\"part\":\"later\"}],"
            "\"workers\":[{\"name\":\"a\",\"takes\":[\"memory\"]}],\"most_memory\":1024}");
  EXPECT_EQ(program_from_json(to_json(*program)), *program);
  EXPECT_EQ(to_json(Program{}), "{}");
}

TEST(ProgramJson, BytesFromElsewhereAreJson) {
  for (const std::string& text :
       {std::string(), std::string("split: {parts: 2}"), std::string("{\"split\": {\"parts\": 2}"),
        std::string("\0{}", 3), std::string("{\"a\": &b [*b]}"), std::string("{\"\xff\": 1}")}) {
    const auto program = program_from_json(text);
    ASSERT_FALSE(program) << text;
    EXPECT_EQ(program.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(program_from_json(std::string(100'000, '[') + std::string(100'000, ']')));
  EXPECT_FALSE(program_from_json("[1, 2]"));
  EXPECT_FALSE(program_from_json("{\"split\": {\"parts\": 1e9}}"));
  EXPECT_FALSE(program_from_json("{\"most_memory\": -1}"));
  EXPECT_FALSE(program_from_json("{" + std::string(256 << 10, ' ') + "}"));
}

/// Texts with what JSON and YAML write in a special way, and names that YAML reads as other types.
std::vector<std::string> random_texts(std::mt19937& random, std::size_t least) {
  static const std::vector<std::string> kTexts{
      "conv*", "**.a",   "\"",   "\\",   "yes",  "null",    "1",        "1.5",
      "~",     "{a: b}", "[x]",  "- a",  "# no", "é",       "'single'", " a ",
      "&b",    "*b",     "a: b", "!tag", "0x10", "\\u0041", "%",        "true"};
  std::vector<std::string> list(least + random() % 3);
  for (std::string& text : list) text = kTexts[random() % kTexts.size()];
  return list;
}

/// Returns a program with every key that may be there, or not.
Program random_program(std::mt19937& random) {
  const auto coin = [&] { return random() % 2 == 0; };
  Program program;
  for (std::size_t i = random() % 3; i > 0; --i) {
    program.workers.push_back({.name = "worker " + std::to_string(i)});
  }
  std::vector<std::string> tags{"compute", "memory", "network", "other"};
  for (std::size_t i = random() % 4; i > 0; --i) {
    UnitRule rule;
    if (coin()) rule.name = random_texts(random, 1)[0];
    rule.except = random_texts(random, 0);
    if (coin()) {
      rule.sequence = random_texts(random, 1);
    } else {
      rule.modules = random_texts(random, 1);
      rule.operators = random_texts(random, 0);
      rule.join = coin();
    }
    rule.tags = random_texts(random, 1);
    tags.insert(tags.end(), rule.tags.begin(), rule.tags.end());
    if (!program.workers.empty() && coin()) rule.worker = program.workers[0].name;
    program.units.push_back(std::move(rule));
  }
  const auto tag = [&] { return tags[random() % tags.size()]; };
  for (ProgramWorker& worker : program.workers) {
    if (coin()) worker.takes = {tag(), tag()};
  }
  if (coin()) {
    program.split = {.parts = static_cast<int>(1 + random() % 64),
                     .at_least = static_cast<int>(1 + random() % 65'536)};
  }
  if (coin()) program.split.only = {tag()};
  for (std::size_t i = random() % 4; i > 0; --i) {
    const auto by = static_cast<OrderRule::By>(random() % 3);
    if (by == OrderRule::By::kTag) {
      program.order.push_back({.by = by, .tag = tag()});
    } else {
      program.order.push_back({.by = by, .reversed = coin()});
    }
  }
  if (coin()) program.most_memory = 1 + random() % 1'000'000'007;
  return program;
}

TEST(ProgramJson, AnyProgramComesBackFromItsJson) {
  std::mt19937 random(8);
  for (int i = 0; i < 300; ++i) {
    const Program program = random_program(random);
    const std::string json = to_json(program);
    const auto again = program_from_json(json);
    ASSERT_TRUE(again) << again.error().message << "\n" << json;
    EXPECT_EQ(*again, program) << json;
    EXPECT_EQ(json.find('\n'), std::string::npos) << "it is one line";
  }
}

TEST(ProgramJson, DamagedBytesAreRefusedOrAProgram) {
  std::mt19937 random(9);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string json = to_json(random_program(random));
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % json.size();
      if (random() % 2 == 0) {
        json[at] = static_cast<char>(random());
      } else {
        json.erase(at, 1);
        json.insert(random() % (json.size() + 1), 1, "{}[],:\"0"[random() % 8]);
      }
    }
    const auto program = program_from_json(json);
    refused += program ? 0 : 1;
    if (!program) {
      EXPECT_EQ(program.error().code, ErrorCode::kInvalidArgument);
      continue;
    }
    EXPECT_EQ(program_from_json(to_json(*program)), *program) << json;
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace pareto::schedules
