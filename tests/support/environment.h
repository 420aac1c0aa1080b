// An environment variable of this process, and so of programs that it starts.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace pareto::test {

/// Sets a variable for as long as it exists. Threads: none other may read the environment.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* const found = std::getenv(name_.c_str())) before_ = found;
    ::setenv(name_.c_str(), value, 1);
  }
  ~EnvironmentVariable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const std::string name_;
  std::optional<std::string> before_;
};

}  // namespace pareto::test
