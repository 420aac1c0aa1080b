#include "client/flags/log_flags.h"

#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <thread>
#include <utility>

#include "client/flags/waiting_note.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/printable.h"
#include "core/base/usage.h"
#include "core/plan/protocol.h"

namespace pareto::client {
namespace {

/// Time between two looks of a standby for the program that it stands by for.
constexpr std::chrono::milliseconds kLooking{500};
/// Time between two reports of the log to people.
constexpr std::chrono::seconds kReading{10};
/// A device that does not answer for this long says nothing of who holds it.
constexpr std::chrono::milliseconds kAnswering{2000};
/// Looks in a row at which nobody must hold the lease: a program whose device was restarted is back
/// by then.
constexpr int kGone = 2;

/// Returns who holds the lease, or why that is not known; "" if nobody does. `is_seen`: whether all
/// devices that were asked said so.
std::string holder_of(const cluster::Cluster& cluster, const std::string& lease, bool& is_seen) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    cluster::DaemonClient& device = cluster.device(i);
    const auto seen = device.observe(kAnswering);
    is_seen = seen.has_value();
    if (!seen) return seen.error().message;
    const auto holder = std::ranges::find(seen->holders, lease, &control::Holder::lease);
    if (holder != seen->holders.end()) {
      return fmt::format("{} uses {}", control::to_string(*holder), device.config().name);
    }
  }
  return "";
}

Expected<> check_leases_known(const cluster::Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DaemonClient& device = cluster.device(i);
    if (device.info().protocol >= plan::kLeasesSince) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{}: its daemon {} does not say who uses it, so nobody can stand by: upgrade it "
                "(docs/upgrading.md)",
                name_and_address(device.config()), device.info().version);
  }
  return {};
}

/// Connects to all devices again, by the addresses that their names have now: a name may lead to
/// another device than when the standby began. Returns whether all are there.
bool connect_by_name(cluster::Cluster& cluster) {
  bool all = true;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const std::string name = cluster.device(i).config().name;
    all = cluster.reconnect(name, kAnswering).has_value() && all;
  }
  return all;
}

/// Waits until the program that answers is gone. Returns false if it has answered everything.
Expected<bool> stand_by(Context& context, cluster::Cluster& cluster, const std::string& path) {
  WaitingNote note(context);
  PARETO_ASSIGN(load::LogState state, load::read_answer_log(path));
  TimePoint read = std::chrono::steady_clock::now();
  for (int gone = 0; gone < kGone;) {
    bool is_seen = true;
    std::string waits = fmt::format("{} is not there yet", path);
    if (state.term) waits = holder_of(cluster, state.term->lease, is_seen);
    // Nobody takes over from a program that holds devices elsewhere.
    if (!is_seen || (waits.empty() && gone + 1 == kGone)) {
      const bool connected = connect_by_name(cluster);
      if (connected) waits = holder_of(cluster, state.term->lease, is_seen);
    }
    gone = waits.empty() ? gone + 1 : 0;
    const TimePoint now = std::chrono::steady_clock::now();
    // A log may be long. It says more only if its program is gone, or for people.
    if (gone > 0 || !state.term || now - read > kReading) {
      PARETO_ASSIGN(state, load::read_answer_log(path));
      read = now;
    }
    if (state.ended) return false;
    if (!waits.empty()) {
      note.show(fmt::format("standing by, {} so far: {}", counted(state.answers.size(), "answer"),
                            waits));
    }
    if (gone < kGone) std::this_thread::sleep_for(kLooking);
  }
  return true;
}

Expected<load::TermLine> next_term(const load::LogState& state, const std::string& path,
                                   const std::string& plan_digest, std::uint64_t program) {
  load::TermLine next;
  next.program = fmt::format("{:016x}", program);
  next.plan = plan_digest;
  next.by = this_user();
  if (!state.term) {
    if (!state.answers.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: it is a log without terms, which nobody can go on with: name another file",
                  path);
    }
    next.lease = fmt::format("deploy-{:016x}", random_program());
    next.term = 1;
    return next;
  }
  if (state.term->plan != plan_digest) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: it is the log of another plan or model: go on with that, or name another file",
                path);
  }
  next.lease = state.term->lease;
  next.term = state.term->term + 1;
  return next;
}

/// Takes the devices for a term, which may become a later one.
Expected<> take_devices(const Context& context, UseFlags& use, cluster::Cluster& cluster,
                        load::TermLine& term) {
  use.lease = term.lease;
  use.term = 0;
  PARETO_ASSIGN(const std::uint64_t last, use.take(context, cluster));
  term.term = std::max(term.term, last + 1);
  use.term = term.term;
  return use.take(context, cluster).map([](std::uint64_t) {});
}

}  // namespace

void LogFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Taking over");
  auto* file = set_value(
      app.add_option("--log", log,
                     "file to append each answer to, as --json prints it. The same command goes "
                     "on where the one before ended, however that was"),
      "FILE");
  app.add_flag("--standby", standby,
               "wait until the program that writes --log is gone from the devices, and go on with "
               "what it has not answered")
      ->needs(file);
  auto* list = set_value(app.add_option("--requests", requests,
                                        "file of requests, one a line, in place of stdin: another "
                                        "program can read it again"),
                         "FILE")
                   ->excludes(app.get_option("files"));
  app.add_flag("--growing", growing,
               "wait for more lines of --requests, until one that is only a dot")
      ->needs(list);
}

Expected<> LogFlags::check(const std::vector<std::string>& files) const {
  if (!standby || !files.empty() || !requests.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "--standby: nobody can read again what is piped into another program: name the "
              "requests on the command line, or in a file (--requests FILE; --growing if lines are "
              "still added)");
}

Expected<FileDescriptor> LogFlags::open_requests() const {
  if (requests.empty()) return FileDescriptor();
  std::error_code unknown;
  if (std::filesystem::is_directory(requests, unknown)) {
    return fail(ErrorCode::kInvalidArgument, "--requests {}: is a folder: name a file of requests",
                requests);
  }
  FileDescriptor file(::open(requests.c_str(), O_RDONLY | O_CLOEXEC));
  if (file) return file;
  return tl::unexpected(error_from_errno(errno, "--requests " + requests));
}

Expected<LoggedDevices> connect_with_log(Context& context, DeviceFlags& devices, int count,
                                         const NeededDevices& needed, const LogFlags& flags,
                                         const std::string& plan_digest,
                                         const std::function<void()>& on_end) {
  if (flags.standby && !devices.are_shared()) {
    return fail(ErrorCode::kInvalidArgument,
                "--standby: it takes over devices that both programs reach: name them (--devices)");
  }
  devices.use.program = random_program();
  PARETO_ASSIGN(cluster::Cluster cluster, devices.connect_only(context, count, {}, needed));
  if (flags.standby) PARETO_TRY(check_leases_known(cluster));
  for (;;) {
    if (flags.standby) {
      PARETO_ASSIGN(const bool is_left, stand_by(context, cluster, flags.log));
      if (!is_left) return LoggedDevices{std::move(cluster), nullptr};
    }
    PARETO_ASSIGN(const load::LogState state, load::read_answer_log(flags.log));
    PARETO_ASSIGN(load::TermLine term,
                  next_term(state, flags.log, plan_digest, devices.use.program));
    if (devices.are_shared()) {
      auto taken = take_devices(context, devices.use, cluster, term);
      // Another program was faster: it is the one to stand by for.
      if (!taken && flags.standby && taken.error().code == ErrorCode::kUnavailable) continue;
      PARETO_TRY(taken);
    }
    PARETO_ASSIGN(auto log, load::AnswerLog::begin(flags.log, term, !devices.are_shared(), on_end));
    const std::size_t answered = log->before().answers.size();
    if (answered > 0) {
      context.err << fmt::format("{}: {} before, going on in term {}\n", flags.log,
                                 counted(answered, "answer"), term.term)
                  << std::flush;
    }
    return LoggedDevices{std::move(cluster), std::move(log)};
  }
}

}  // namespace pareto::client
