// Any values to each operator that shards may use, behind the checks that are put before them.
//
//   operators_fuzz [-max_total_time=SECONDS] [-artifact_prefix=PATH] [-only=TEXT] [-unchecked=1]
//   operators_fuzz FILE    repeats what a call of the file's did
//
// Calls run in a child process. A call that ends it is a finding: its operator and seeds become a
// file. So is one that returns memory that it was given, if it is said not to. A call has the
// values of an example or of an earlier one that succeeded, with one or two of them made again, or
// all are new. Flags are libFuzzer's, because fuzz.py runs both; folders are ignored.
// -unchecked=1 leaves the checks out, to see what they are there for.
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <torch/csrc/autograd/autograd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/archive/operator_review.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/given_result.h"
#include "runtime/torch/operator_fusion.h"
#include "runtime/torch/safe_operators.h"
#include "runtime/torch/threads.h"
#include "tests/fuzz/guarded_memory.h"
#include "tests/fuzz/operator_arguments.h"
#include "tests/fuzz/operator_examples.h"
#include "tests/fuzz/operator_memory.h"

namespace pareto::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSeeds = 40;
constexpr std::size_t kKept = 6;
constexpr std::uint64_t kMostMemory = std::uint64_t{12} << 30;
/// A call may take that much processor time. One that takes more is no finding: a shard's requests
/// have a limit.
constexpr int kMostSeconds = 5;

/// One overload, and what the child has found out about it. Lies in memory that both share.
struct Overload {
  std::uint64_t calls;
  std::uint64_t successes;
  std::array<std::array<std::uint64_t, kMostSeeds>, kKept> kept;  ///< seeds of calls that succeeded
  bool is_left_out;  ///< no value of a type is known, or it has ended the child
};

/// Says which call the child is at. Lies in memory that both share.
struct Shared {
  std::uint64_t round;
  std::size_t at;  ///< the overload that is called
  std::array<std::uint64_t, kMostSeeds> seeds;
};

template <typename T>
T* shared_memory(std::size_t count) {
  void* const memory =
      ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

/// The compiler writes their last arguments.
constexpr std::array kOfTheCompiler{"prim::ConstantChunk", "prim::tolist"};

using Operator = std::shared_ptr<torch::jit::Operator>;

/// Returns the overloads of allowed operators whose name has that text in it.
std::vector<Operator> overloads(const std::string& only) {
  std::vector<Operator> all;
  for (const runtime::OperatorGroup& group : runtime::allowed_operators()) {
    std::istringstream names{std::string(group.names)};
    for (std::string name; names >> name;) {
      name = fmt::format("{}::{}", group.library, name);
      const bool is_left_out = std::ranges::find(kOfTheCompiler, name) != kOfTheCompiler.end();
      if (is_left_out || name.find(only) == std::string::npos) continue;
      for (const Operator& known :
           torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
        const c10::FunctionSchema& schema = known->schema();
        if (!runtime::is_given_its_result(schema) && !schema.is_vararg() &&
            schema.arguments().size() < kMostSeeds) {
          all.push_back(known);
        }
      }
    }
  }
  return all;
}

std::string name_of(const Operator& known) {
  return c10::toString(known->schema().operator_name());
}

/// Computes gradients of what a call returned, as training does.
void differentiate(const torch::jit::Stack& results) {
  for (const c10::IValue& result : results) {
    if (!result.isTensor()) continue;
    const at::Tensor& tensor = result.toTensor();
    if (!tensor.defined() || !tensor.requires_grad()) continue;
    torch::autograd::backward({tensor}, {at::ones_like(tensor)});
  }
}

/// Returns the bytes of what a call returned, as a number.
std::uint64_t digest_of(const torch::jit::Stack& results) {
  std::uint64_t digest = 0;
  for (const c10::IValue& result : results) {
    std::string bytes;
    if (result.isTensor() && result.toTensor().defined()) {
      const at::Tensor& tensor = result.toTensor();
      const at::Tensor plain =
          (tensor.is_quantized() ? tensor.int_repr() : tensor.detach()).resolve_conj().contiguous();
      bytes.assign(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
    }
    digest = digest * 31 + std::hash<std::string>()(bytes);
  }
  return digest;
}

enum class Outcome { kSucceeded, kRefused, kUncallable };

struct Called {
  Outcome outcome = Outcome::kRefused;
  std::uint64_t digest = 0;  ///< if it succeeded and was asked for

  friend bool operator==(const Called&, const Called&) = default;
};

Called call(const Operator& known, const Seeds& seeds, Guard guard = Guard::kNothing) {
  try {
    set_guard(guard, (seeds.front() & 1) != 0);
    runtime::seed_random_numbers(seeds.front());
    // Shards run so. The others have gradients, as in training.
    const c10::InferenceMode inference(seeds.front() % 5 != 4);
    auto arguments = make_arguments(known->schema(), seeds);
    if (!arguments) return {.outcome = Outcome::kUncallable};
    torch::jit::Stack stack = *arguments;
    known->getOperation()(stack);
    if (returns_given_memory(known->schema(), *arguments, stack)) ::raise(SIGUSR1);
    differentiate(stack);
    const bool is_asked = guard != Guard::kNothing;
    return {.outcome = Outcome::kSucceeded, .digest = is_asked ? digest_of(stack) : 0};
  } catch (const std::exception&) {
    return {};
  }
}

/// Ends the process by SIGPROF if it takes too much processor time from now on.
void limit_time() {
  const ::itimerval limit{{}, {kMostSeconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

/// Returns whether a call only reads a few bytes behind its tensors, whatever they are. Runs it in
/// a process of its own.
bool reads_behind(const Operator& known, const Seeds& seeds) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    limit_time();
    const Called zeros = call(known, seeds, Guard::kZeros);
    ::_exit(zeros == call(known, seeds, Guard::kOnes) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct Settings {
  int seconds = 60;
  std::string findings;
  std::string only;
  std::string repeat;
  bool has_checks = true;
};

class OperatorFuzzer {
 public:
  explicit OperatorFuzzer(Settings settings)
      : settings_(std::move(settings)),
        operators_(overloads(settings_.only)),
        shared_(shared_memory<Shared>(1)),
        found_out_(shared_memory<Overload>(operators_.size() + 1)) {
    shared_->round = std::random_device()();
    for (const Operator& known : operators_) {
      has_example_.push_back(example_of(known->schema()).has_value());
    }
  }

  int run() {
    const auto end = Clock::now() + std::chrono::seconds(settings_.seconds);
    while (Clock::now() < end) {
      const ::pid_t child = ::fork();
      if (child == 0) call_all(end);
      int status = 0;
      ::waitpid(child, &status, 0);
      if (WIFSIGNALED(status)) take_end(WTERMSIG(status));
    }
    report();
    return findings_ == 0 ? 0 : 77;
  }

  /// Repeats the call of a file in this process.
  int repeat() {
    std::ifstream file(settings_.repeat);
    std::string name;
    file >> name;
    Seeds seeds;
    for (std::uint64_t seed = 0; file >> seed;) seeds.push_back(seed);
    for (const Operator& known : operators_) {
      if (name_of(known) != name) continue;
      seeds.resize(known->schema().arguments().size() + 1);
      std::ostringstream schema;
      schema << known->schema();
      fmt::print("{}\n{}", schema.str(), described(known, seeds));
      std::fflush(stdout);
      const Outcome outcome = call(known, seeds).outcome;
      fmt::print("{}\n", outcome == Outcome::kSucceeded ? "it returns" : "it is refused");
      return 0;
    }
    fmt::print(stderr, "operators_fuzz: no operator {} may be used\n", name);
    return 2;
  }

 private:
  [[noreturn]] void call_all(Clock::time_point end) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const ::rlimit memory{kMostMemory, kMostMemory};
    ::setrlimit(RLIMIT_AS, &memory);
    const ::rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    while (Clock::now() < end) {
      for (; shared_->at < operators_.size(); ++shared_->at) {
        if (!found_out_[shared_->at].is_left_out) call_one();
      }
      shared_->at = 0;
      ++shared_->round;
    }
    ::_exit(0);
  }

  void call_one() {
    const Operator& known = operators_[shared_->at];
    Overload& overload = found_out_[shared_->at];
    Choices choices((shared_->round << 20) + shared_->at);
    Seeds seeds(known->schema().arguments().size() + 1);
    const std::size_t kept = std::min<std::uint64_t>(overload.successes, kKept);
    const auto make_some_again = [&] {
      for (std::size_t changes = 1 + choices.below(2); changes > 0; --changes) {
        seeds[choices.below(seeds.size())] = choices.any();
      }
    };
    if (overload.calls == 0 && has_example_[shared_->at]) {
      // The example as it is.
    } else if (has_example_[shared_->at] && choices.with_percent(50)) {
      make_some_again();
    } else if (kept > 0 && choices.with_percent(70)) {
      const auto& from = overload.kept[choices.below(kept)];
      std::copy_n(from.begin(), seeds.size(), seeds.begin());
      make_some_again();
    } else {
      for (std::uint64_t& seed : seeds) seed = choices.any();
    }
    std::ranges::copy(seeds, shared_->seeds.begin());
    ++overload.calls;
    limit_time();
    switch (call(known, seeds).outcome) {
      case Outcome::kSucceeded:
        std::ranges::copy(seeds, overload.kept[overload.successes++ % kKept].begin());
        break;
      case Outcome::kUncallable:
        overload.is_left_out = overload.calls >= 20 && overload.successes == 0;
        break;
      case Outcome::kRefused:
        break;
    }
  }

  /// Takes note of the call that ended the child.
  void take_end(int signal) {
    const Operator& known = operators_[shared_->at];
    const Seeds seeds(shared_->seeds.begin(),
                      shared_->seeds.begin() +
                          static_cast<std::ptrdiff_t>(known->schema().arguments().size()) + 1);
    if (signal == SIGPROF) {
      ++slow_;
    } else if (reads_behind(known, seeds)) {
      read_behind_.insert(name_of(known));
    } else {
      ++findings_;
      found_out_[shared_->at].is_left_out = true;
      const std::string text = fmt::format("{} {}\n", name_of(known), fmt::join(seeds, " "));
      const std::string path = fmt::format("{}crash-{}-{:016x}", settings_.findings, name_of(known),
                                           std::hash<std::string>()(text));
      std::ofstream(path) << text;
      fmt::print("{}: {} {}\n", path, name_of(known),
                 signal == SIGUSR1 ? "returns memory that it was given, and is said not to"
                                   : fmt::format("ends the process ({})", ::strsignal(signal)));
      std::fflush(stdout);
    }
    ++shared_->at;
  }

  static std::string described(const Operator& known, const Seeds& seeds) {
    try {
      const auto arguments = make_arguments(known->schema(), seeds);
      return arguments ? to_text(known->schema(), *arguments) : "no such values\n";
    } catch (const std::exception& error) {
      return fmt::format("no such values: {}\n", runtime::first_line(error));
    }
  }

  void report() const {
    std::uint64_t calls = 0;
    std::uint64_t successes = 0;
    std::vector<std::string> never;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      calls += found_out_[i].calls;
      successes += found_out_[i].successes;
      if (found_out_[i].successes == 0) never.push_back(name_of(operators_[i]));
    }
    fmt::print(
        "{} overloads, {} of which succeeded at least once\n{} calls, {} of which succeeded "
        "and {} took over {} s\n",
        operators_.size(), operators_.size() - never.size(), calls, successes, slow_, kMostSeconds);
    fmt::print("never succeeded: {}\n", fmt::join(never, " "));
    fmt::print("read a few bytes behind a tensor, and did not use them: {}\n",
               fmt::join(read_behind_, " "));
    fmt::print("stat::number_of_executed_units: {}\n", calls);
  }

  const Settings settings_;
  const std::vector<Operator> operators_;
  std::vector<bool> has_example_;
  Shared* const shared_;
  Overload* const found_out_;
  int findings_ = 0;
  int slow_ = 0;
  std::set<std::string> read_behind_;
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::string value = text.substr(text.find('=') + 1);
    if (text.starts_with("-max_total_time=")) settings.seconds = std::stoi(value);
    if (text.starts_with("-artifact_prefix=")) settings.findings = value;
    if (text.starts_with("-only=")) settings.only = value;
    if (text.starts_with("-unchecked=")) settings.has_checks = value == "0";
    if (fs::is_regular_file(text)) settings.repeat = text;
  }
  return settings;
}

}  // namespace
}  // namespace pareto::fuzz

int main(int argc, char** argv) {
  using namespace pareto;
  const fuzz::Settings settings = fuzz::read_settings(argc, argv);
  runtime::set_thread_count(1);
  runtime::DropWarnings dropped;
  const runtime::warning_api::WarningHandlerGuard quiet(&dropped);
  // LibTorch finds out where it throws, which takes longer than most calls.
  c10::SetStackTraceFetcher([] { return std::string(); });
  runtime::keep_operators_apart();
  if (settings.has_checks) runtime::install_safe_operators();
  fuzz::guard_tensors();
  fuzz::OperatorFuzzer fuzzer(settings);
  return settings.repeat.empty() ? fuzzer.run() : fuzzer.repeat();
}
