#include "client/flags/slow_opening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <ostream>
#include <streambuf>

namespace pareto::client {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Lets a test wait for what another thread writes.
class Heard : public std::streambuf {
 public:
  std::string wait_for_line() {
    std::unique_lock lock(mutex_);
    written_.wait(lock, [this] { return text_.ends_with('\n'); });
    return text_;
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    const std::lock_guard lock(mutex_);
    text_.append(bytes, static_cast<std::size_t>(count));
    written_.notify_all();
    return count;
  }
  int_type overflow(int_type byte) override {
    const char one = traits_type::to_char_type(byte);
    xsputn(&one, 1);
    return byte;
  }

  std::mutex mutex_;
  std::condition_variable written_;
  std::string text_;
};

TEST(SlowOpening, SaysWhatIsOpenedOnceItTakesLong) {
  Heard heard;
  std::ostream err(&heard);
  const SlowOpening slow(err, "opening large.pt: reading it", milliseconds(1));
  EXPECT_THAT(heard.wait_for_line(), HasSubstr("opening large.pt: reading it ("));
}

TEST(SlowOpening, SaysNothingOfWhatOpensAtOnce) {
  Heard heard;
  std::ostream err(&heard);
  { const SlowOpening slow(err, "opening small.pt", std::chrono::hours(1)); }
  EXPECT_EQ(heard.text(), "");
}

}  // namespace
}  // namespace pareto::client
