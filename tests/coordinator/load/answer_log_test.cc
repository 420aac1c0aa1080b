#include "coordinator/load/answer_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "core/base/file.h"

namespace pareto::load {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AnswerLogs : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "answers.jsonl"; }
  static TermLine term(std::uint64_t number, const std::string& program) {
    return {number, "deploy-1", "of a plan", "lab on desk", program};
  }
  Expected<std::unique_ptr<AnswerLog>> begin(std::uint64_t number, const std::string& program) {
    return AnswerLog::begin(path(), term(number, program), /*exclusive=*/false,
                            [this] { ended_.set_value(); });
  }
  static std::string answer(int number) {
    return fmt::format(R"({{"number":{},"request":"{}.npy","latency_ms":1.5,"output":[]}})", number,
                       number);
  }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::app) << text; }

  TemporaryFolder folder_ = TemporaryFolder::create("answer-log").value();
  std::promise<void> ended_;
};

TEST_F(AnswerLogs, WhoGoesOnKnowsWhatWasAnswered) {
  EXPECT_FALSE(read_answer_log(path()).value().term);
  {
    const auto log = begin(1, "a").value();
    EXPECT_TRUE(log->before().answers.empty());
    ASSERT_TRUE(log->append(answer(0)));
    ASSERT_TRUE(log->append(R"({"number":1,"request":"1.npy","error":"too large"})"));
  }
  const auto log = begin(2, "b").value();
  const LogState& before = log->before();
  EXPECT_EQ(before.term->term, 1U);
  ASSERT_EQ(before.answers.size(), 2U);
  EXPECT_EQ(before.answers.at(0).request, "0.npy");
  EXPECT_EQ(before.answers.at(1).error, "too large");
  EXPECT_FALSE(before.ended);
  ASSERT_TRUE(log->end());
  EXPECT_TRUE(read_answer_log(path()).value().ended);
}

TEST_F(AnswerLogs, GrowsNoLongerThanItCanBeReadAgain) {
  constexpr std::uint64_t kLongest = 300;
  const auto log = AnswerLog::begin(
                       path(), term(1, "a"), /*exclusive=*/false, [] {}, kLongest)
                       .value();
  Expected<> appended;
  int answers = 0;
  for (; answers < 10 && (appended = log->append(answer(answers))); ++answers) {
  }
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(appended.error().message, AllOf(HasSubstr("300 bytes"), HasSubstr("another one")));
  EXPECT_LE(std::filesystem::file_size(path()), kLongest);
  EXPECT_EQ(read_answer_log(path()).value().answers.size(), static_cast<std::size_t>(answers));
  const std::uintmax_t bytes = std::filesystem::file_size(path());
  EXPECT_FALSE(AnswerLog::begin(
      path(), term(2, "b"), false, [] {}, bytes))
      << "its own line does not fit";
  EXPECT_EQ(std::filesystem::file_size(path()), bytes);
}

TEST_F(AnswerLogs, OneThatWasReplacedFindsOutAndItsLinesAreVoid) {
  const auto stale = begin(1, "a").value();
  ASSERT_TRUE(stale->append(answer(0)));
  const auto log = begin(2, "b").value();
  // As a program writes that was stopped between its look at the log and its line.
  write(R"({"number":1,"request":"1.npy","latency_ms":9,"term":1})"
        "\n");
  ASSERT_TRUE(log->append(answer(1)));
  const auto refused = stale->append(answer(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message, HasSubstr("lab on desk has taken over with term 2"));
  EXPECT_EQ(stale->problem()->message, refused.error().message);
  const LogState state = read_answer_log(path()).value();
  ASSERT_EQ(state.answers.size(), 2U);
  EXPECT_EQ(state.answers.at(1).term, 2U);
  HistoryReader reader("log");
  std::ifstream file(path());
  for (std::string line; std::getline(file, line);) ASSERT_TRUE(reader.take(line));
  EXPECT_EQ(reader.void_lines(), 1U);
  EXPECT_EQ(reader.term(), 2U);
}

TEST_F(AnswerLogs, OneThatIsIdleFindsOutToo) {
  const auto idle = begin(1, "a").value();
  const auto log = AnswerLog::begin(path(), term(2, "b"), false, [] {}).value();
  EXPECT_EQ(ended_.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(idle->problem());
  EXPECT_FALSE(log->problem());
}

TEST_F(AnswerLogs, OfTwoThatBeginATermOneDoes) {
  const auto first = begin(1, "a").value();
  for (const std::uint64_t number : {1U, 1U}) {
    const auto second = begin(number, "b");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kPermission);
  }
  EXPECT_TRUE(first->append(answer(0)));
}

TEST_F(AnswerLogs, ALineThatACrashCutShortDoesNotCount) {
  {
    const auto log = begin(1, "a").value();
    ASSERT_TRUE(log->append(answer(0)));
  }
  write(R"({"number":1,"requ)");
  EXPECT_EQ(read_answer_log(path()).value().answers.size(), 1U);
  const auto log = begin(2, "b").value();
  EXPECT_EQ(log->before().answers.size(), 1U);
  ASSERT_TRUE(log->append(answer(1)));
  EXPECT_EQ(read_answer_log(path()).value().answers.size(), 2U);
  HistoryReader reader("log");
  std::ifstream file(path());
  for (std::string line; std::getline(file, line);) ASSERT_TRUE(reader.take(line));
  EXPECT_EQ(reader.cut_lines(), 1U);
}

TEST_F(AnswerLogs, ALineThatIsNoneIsRefusedWithItsPlace) {
  write(R"({"term":1,"lease":"deploy-1","plan":"p"})"
        "\nhello\n" +
        answer(0) + "\n");
  const auto refused = read_answer_log(path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("answers.jsonl:2: "));
}

TEST_F(AnswerLogs, ADeviceHasNoEndAndIsNone) {
  const auto refused = read_answer_log("/dev/zero");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << refused.error().message;
}

TEST_F(AnswerLogs, OneProcessHasItAtATimeIfItIsToBeSo) {
  const auto mine = AnswerLog::begin(path(), term(1, "a"), /*exclusive=*/true, [] {}).value();
  const auto other = AnswerLog::begin(path(), term(2, "b"), /*exclusive=*/true, [] {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnavailable);
}

TEST_F(AnswerLogs, ADiskThatIsFullIsSaid) {
  const auto full = AnswerLog::begin("/dev/full", term(1, "a"), false, [] {});
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, AllOf(HasSubstr("/dev/full"), HasSubstr("free some space")));
}

}  // namespace
}  // namespace pareto::load
