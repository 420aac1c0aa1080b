#include "coordinator/load/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"

namespace pareto::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

HistoryLine answered(std::uint64_t number, std::vector<std::string> outputs = {}) {
  return {number, "a.npy", {}, true, std::move(outputs)};
}

TEST(History, HoldsIfEveryRequestHasOneLineInOrder) {
  HistoryCheck check;
  check.add(answered(0));
  check.add({1, "b.npy", "pi-2 is gone", true, {}});
  check.add({2, "c.npy", "stopped", false, {}});
  const HistoryVerdict verdict = check.finish();
  EXPECT_TRUE(verdict.holds());
  EXPECT_EQ(verdict.answered, 1U);
  EXPECT_EQ(verdict.failed, 1U);
  EXPECT_EQ(verdict.not_sent, 1U);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(History, CountsWhatIsLostDuplicatedAndOutOfOrder) {
  HistoryCheck check;
  for (const std::uint64_t number : {0, 2, 1, 2, 5}) check.add(answered(number));
  const HistoryVerdict verdict = check.finish();
  EXPECT_FALSE(verdict.holds());
  EXPECT_EQ(verdict.reordered, 1U);
  EXPECT_EQ(verdict.duplicated, 1U);
  EXPECT_EQ(verdict.lost, 2U);
  EXPECT_THAT(verdict.findings,
              ElementsAre(HasSubstr("request 1 (a.npy) comes behind request 2"),
                          HasSubstr("request 2 (a.npy) has another line"),
                          HasSubstr("request 3 has no line"), HasSubstr("request 4 has no line")));
}

TEST(History, ComparesOutputsByteByByte) {
  const TemporaryFolder folder = TemporaryFolder::create("history").value();
  const auto file = [&](const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(folder.path() / name, text));
    return (folder.path() / name).string();
  };
  HistoryCheck check;
  check.expect(answered(7, {file("right", "1234")}));
  check.expect({8, "b.npy", "lost", true, {}});
  check.add(answered(0, {file("same", "1234")}));
  check.add(answered(1, {file("other", "1235")}));
  check.add(answered(2, {(folder.path() / "absent").string()}));
  check.add(answered(3));
  check.add({4, "b.npy", {}, true, {}});
  const HistoryVerdict verdict = check.finish();
  EXPECT_EQ(verdict.compared, 4U);
  EXPECT_EQ(verdict.wrong, 3U);
  EXPECT_FALSE(verdict.holds());
}

TEST(History, AFileWithoutALineOfALogIsNone) {
  HistoryReader plan("plan.json");
  EXPECT_FALSE(plan.take(R"({"version":1,"stages":[]})").value()) << "it may be cut short";
  EXPECT_THAT(plan.finish().error().message, HasSubstr("plan.json:1"));
  HistoryReader cut("log.jsonl");
  ASSERT_TRUE(cut.take(R"({"number":0,"request":"a","latency_ms":1})").value());
  EXPECT_FALSE(cut.take(R"({"number":1,"requ)").value());
  EXPECT_TRUE(cut.finish());
  EXPECT_EQ(cut.cut_lines(), 1U);
}

TEST(History, KnowsItsTermsAndWhetherTheStreamEnded) {
  HistoryReader reader("log.jsonl");
  ASSERT_TRUE(reader.take(R"({"term":3,"lease":"a"})").value());
  ASSERT_TRUE(reader.take(R"({"number":0,"request":"a","latency_ms":1,"term":3})").value());
  ASSERT_TRUE(reader.take(R"({"term":5,"lease":"a"})").value());
  EXPECT_EQ(reader.terms(), 2U);
  EXPECT_EQ(reader.term(), 5U);
  EXPECT_FALSE(reader.ended());
  ASSERT_TRUE(reader.take(R"({"ends":true,"term":5})").value());
  EXPECT_TRUE(reader.ended());
}

TEST(History, RefusesLinesOfSomethingElse) {
  const auto problem = [](std::string_view line) {
    const auto read = parse_history_line(line);
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(problem("hello"), HasSubstr("no JSON object"));
  EXPECT_THAT(problem("[1]"), HasSubstr("no JSON object"));
  EXPECT_THAT(problem(R"({"request":"a","latency_ms":1})"), HasSubstr("\"number\""));
  EXPECT_THAT(problem(R"({"number":-1,"request":"a","latency_ms":1})"), HasSubstr("\"number\""));
  EXPECT_THAT(problem(R"({"number":1e99,"request":"a","latency_ms":1})"), HasSubstr("\"number\""));
  EXPECT_THAT(problem(R"({"number":99999999999,"request":"a","latency_ms":1})"),
              HasSubstr("at most"));
  EXPECT_THAT(problem(R"({"number":0,"request":"a"})"), HasSubstr("either"));
  EXPECT_THAT(problem(R"({"number":0,"request":"a","latency_ms":1,"error":"x"})"),
              HasSubstr("either"));
  EXPECT_THAT(problem(R"({"number":0,"request":"a","latency_ms":1,"output":[1]})"),
              HasSubstr("names of files"));
  const auto read = parse_history_line(R"({"number":3,"request":"a","error":"x","sent":false})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->number, 3U);
  EXPECT_FALSE(read->sent);
}

}  // namespace
}  // namespace pareto::load
