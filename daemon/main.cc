// paretod: the daemon of a device. Everything it is made of is in daemon.h; here are its exit codes
// and its signals.
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/blas_kernels.h"
#include "core/base/leave.h"
#include "core/base/log.h"
#include "core/base/open_mp_spin.h"
#include "core/base/process_memory.h"
#include "core/base/standard_descriptors.h"
#include "core/base/start_again.h"
#include "core/tls/fresh_credentials.h"
#include "core/tls/utc_text.h"
#include "core/transport/grpc/quiet.h"
#include "daemon/access.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/enrolment.h"
#include "daemon/journal.h"
#include "daemon/process.h"
#include "daemon/service_manager.h"
#include "runtime/operator_libraries.h"

namespace pareto::daemon {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongConfig = 2;
constexpr int kEnvironment = 3;
// After the drain's own time, for calls that cannot be interrupted.
constexpr std::chrono::seconds kGrace{5};
constexpr std::chrono::seconds kSelfCheckPatience{5};
// Those of gRPC, of the links' listeners and of one stage.
constexpr int kLeastThreads = 32;

int complain(const Error& error, int exit_code) {
  std::fprintf(stderr, "paretod: %s\n", error.message.c_str());
  return exit_code;
}

int exit_code_of(const Error& error) {
  if (error.code == ErrorCode::kPermission) return kEnvironment;
  return error.code == ErrorCode::kInvalidArgument ? kWrongConfig : kFailed;
}

void reload(Daemon& daemon, const CommandLine& command_line) {
  const auto config = load_config(command_line, process_environment());
  if (!config) {
    spdlog::error("HUP: nothing is changed: {}", config.error().message);
    return;
  }
  const Daemon::Reloaded changes = daemon.reload(*config);
  if (changes.in_use.empty() && changes.waiting.empty()) {
    spdlog::info("HUP: the configuration has not changed");
  }
  for (const std::string& change : changes.in_use) spdlog::info("HUP: {}", change);
  for (const std::string& change : changes.waiting) spdlog::warn("HUP: {}", change);
}

/// Tells the service manager that this daemon is alive, if it answers its own call. The status asks
/// the stages: one that holds them for ever makes this hang, too.
void tell_alive(const Daemon& daemon, const ServiceManager& manager) {
  if (!manager.alive_every()) return;
  if (const auto answers = daemon.check_answers(kSelfCheckPatience); !answers) {
    return spdlog::error("{}; unless it does soon, the service manager starts this daemon again",
                         answers.error().message);
  }
  manager.alive(daemon.status());
}

/// The main loop: until TERM or INT.
void attend(Daemon& daemon, const CommandLine& command_line, const ServiceManager& manager) {
  TimePoint refresh_at = std::chrono::steady_clock::now() + tls::kRefreshEvery;
  for (;;) {
    tell_alive(daemon, manager);
    const auto signal = wait_signal(
        std::min(manager.alive_every().value_or(tls::kRefreshEvery), tls::kRefreshEvery));
    if (std::chrono::steady_clock::now() >= refresh_at) {
      daemon.refresh_credentials();
      refresh_at = std::chrono::steady_clock::now() + tls::kRefreshEvery;
    }
    if (!signal) continue;
    if (*signal != SIGHUP) return;
    manager.reloading();
    reload(daemon, command_line);
    manager.ready(daemon.status());
  }
}

int serve(const CommandLine& command_line, const DaemonConfig& config) {
  prepare_signals();
  raise_descriptor_limit();
  if (auto pinned = pin_to_cores(config.cpu); !pinned)
    return complain(pinned.error(), kWrongConfig);
  if (command_line.exit_with_parent) {
    if (auto bound = end_with_parent(); !bound) return complain(bound.error(), kFailed);
  }
  const ServiceManager manager;
  std::atomic<bool> stuck{false};
  DaemonParts parts = builtin_parts();
  parts.on_stuck = [&stuck](const std::string& what) {
    spdlog::error(
        "{}: this daemon ends with exit code {}, for the service manager to start it again", what,
        kFailed);
    stuck = true;
    ::kill(::getpid(), SIGTERM);
  };
  auto daemon = Daemon::start(config, std::move(parts));
  if (!daemon) return complain(daemon.error(), exit_code_of(daemon.error()));
  if (command_line.ready_fd) {
    const auto told = tell_ready(*command_line.ready_fd, (*daemon)->ready_line());
    if (!told) return complain(told.error(), exit_code_of(told.error()));
  }
  manager.ready((*daemon)->status());
  attend(**daemon, command_line, manager);
  const Nanoseconds patience = (*daemon)->config().drain_timeout + kGrace;
  manager.stopping(patience);
  const Impatience impatience(patience, stuck ? kFailed : kDone);
  (*daemon)->drain();
  // A thread that can't be ended would be waited for.
  if (stuck) ::_exit(kFailed);
  daemon->reset();
  return kDone;
}

/// Checks what a start would refuse next to the settings themselves.
int check_config(const DaemonConfig& config) {
  if (const auto pinned = pin_to_cores(config.cpu); !pinned) {
    return complain(pinned.error(), kWrongConfig);
  }
  const auto access = settle_access(config);
  if (!access) return complain(access.error(), exit_code_of(access.error()));
  if (access->credentials) {
    for (const std::string& warning : access->credentials->warnings()) spdlog::warn("{}", warning);
  }
  const auto certificate = access->metrics_tls(config);
  if (!certificate) return complain(certificate.error(), exit_code_of(certificate.error()));
  if (*certificate) {
    for (const std::string& warning : (*certificate)->warnings()) spdlog::warn("{}", warning);
  }
  std::puts("the configuration is fine");
  return kDone;
}

/// Gets this device its certificate.
int enroll(const EnrolmentFlags& flags) {
  prepare_to_ask();
  const auto done = enrol(flags);
  if (!done) {
    const Error& error = done.error();
    const bool refused = error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
    return complain(error, refused ? kEnvironment : exit_code_of(error));
  }
  std::puts(fmt::format("this is {} until {}\ncredentials: {}", to_string(done->identity),
                        tls::utc_text(done->expiry), done->folder.string())
                .c_str());
  if (done->first) {
    std::fputs(
        "A daemon that runs has begun without credentials: start it again (sudo systemctl restart "
        "paretod).\n",
        stderr);
  }
  return kDone;
}

int run(int argc, char** argv) {
  limit_arenas();
  open_missing_descriptors(argv);
  transport::silence_grpc();
  const auto command_line = parse_command_line(argc, argv);
  if (!command_line) return complain(command_line.error(), kWrongConfig);
  if (command_line->print) {
    std::fputs(command_line->print->c_str(), stdout);
    return kDone;
  }
  if (command_line->enrolment) return enroll(*command_line->enrolment);
  const bool shortened = shorten_open_mp_spin();
  if (choose_blas_kernels() || shortened) start_again(argv);
  // Before the transports that a configuration names: gRPC's starts threads.
  if (const auto enough = check_threads(kLeastThreads); !enough) {
    return complain(enough.error(), kEnvironment);
  }
  const auto config = load_config(*command_line, process_environment());
  if (!config) return complain(config.error(), kWrongConfig);
  LogOutput journal;
  if (is_journal_stream(STDERR_FILENO, std::getenv("JOURNAL_STREAM")))
    journal = to_journal("paretod");
  if (auto logging = set_up_logging("paretod", config->log_level, std::move(journal)); !logging) {
    return complain(logging.error(), kWrongConfig);
  }
  const auto libraries = runtime::load_operator_libraries(config->operators);
  if (!libraries) return complain(libraries.error(), kWrongConfig);
  if (command_line->check_config) return check_config(*config);
  try {
    return serve(*command_line, *config);
  } catch (const std::system_error& error) {
    const bool is_full = error.code() == std::errc::resource_unavailable_try_again;
    return complain({ErrorCode::kExhausted,
                     fmt::format("{}{}", is_full ? "no thread left: " : "", error.what())},
                    kFailed);
  }
}

// Libraries start threads when they are loaded, before main (OpenBLAS does). Threads that did not
// block the signals would get them while the main thread does not wait for one, and their default
// action ends the process. What stands in .preinit_array is called before the libraries are set up,
// so that all they start inherits what is blocked.

/// Returns the bit of a signal as the kernel counts: signal N is bit N - 1.
constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

constexpr std::uint64_t kEnding = bit_of(SIGTERM) | bit_of(SIGINT) | bit_of(SIGHUP);

/// Blocks signals with no more of the C library than needs nothing set up; nor is a sanitizer there
/// yet.
__attribute__((no_sanitize("address", "thread", "undefined"))) void block_signals(int /*argc*/,
                                                                                  char** /*argv*/,
                                                                                  char** /*env*/) {
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kEnding, nullptr, sizeof kEnding);
}

__attribute__((section(".preinit_array"), used)) void (*before_libraries)(int, char**,
                                                                          char**) = block_signals;

}  // namespace
}  // namespace pareto::daemon

int main(int argc, char** argv) { return pareto::leave(pareto::daemon::run(argc, argv)); }
