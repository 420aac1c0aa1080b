// An environment variable of this process, and so of programs that it starts.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace pareto::test {

/// Sets a variable for as long as it exists, or unsets it if the value is null. Threads: none other
/// may read the environment.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* const found = std::getenv(name_.c_str())) before_ = found;
    set(value);
  }
  ~EnvironmentVariable() { set(before_ ? before_->c_str() : nullptr); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      ::unsetenv(name_.c_str());
    } else {
      ::setenv(name_.c_str(), value, 1);
    }
  }

  const std::string name_;
  std::optional<std::string> before_;
};

}  // namespace pareto::test
