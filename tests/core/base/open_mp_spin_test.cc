#include "core/base/open_mp_spin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace pareto {
namespace {

/// Sets a variable of the environment, or removes it, until the test ends.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(OpenMpSpin, IsShortUnlessTheEnvironmentSaysSomething) {
  const Variable policy("OMP_WAIT_POLICY", nullptr);
  {
    const Variable count("GOMP_SPINCOUNT", nullptr);
    EXPECT_TRUE(shorten_open_mp_spin());
    EXPECT_NE(std::getenv("GOMP_SPINCOUNT"), nullptr);
    EXPECT_FALSE(shorten_open_mp_spin()) << "once is enough";
  }
  {
    const Variable count("GOMP_SPINCOUNT", "7");
    EXPECT_FALSE(shorten_open_mp_spin());
    EXPECT_STREQ(std::getenv("GOMP_SPINCOUNT"), "7");
  }
  const Variable count("GOMP_SPINCOUNT", nullptr);
  const Variable active("OMP_WAIT_POLICY", "active");
  EXPECT_FALSE(shorten_open_mp_spin());
  EXPECT_EQ(std::getenv("GOMP_SPINCOUNT"), nullptr);
}

}  // namespace
}  // namespace pareto
