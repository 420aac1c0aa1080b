#include "client/flags/use_flags.h"

#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <vector>

#include "client/flags/time_flags.h"
#include "client/flags/waiting_note.h"
#include "core/base/printable.h"
#include "core/base/usage.h"

namespace pareto::client {
namespace {

/// The time for a program that is ending to let its devices go.
constexpr Nanoseconds kEnding = std::chrono::seconds(1);

}  // namespace

void UseFlags::add_to(CLI::App& app, DeviceNeed of_command) {
  need = of_command;
  command = app.get_name();
  if (need == DeviceNeed::kLooks) return;
  set_value(app.add_option("--wait", wait,
                           need == DeviceNeed::kMeasures
                               ? "time to wait until nobody else uses the devices (default: not "
                                 "at all)"
                               : "time to wait for devices that another program measures (default: "
                                 "not at all)"),
            "DURATION");
  if (need != DeviceNeed::kMeasures) return;
  app.add_flag("--share", share,
               "measure next to other programs, and let others in meanwhile: the figures are then "
               "those of a busy device");
}

Expected<std::optional<Nanoseconds>> UseFlags::read_wait() const {
  if (!wait) return std::nullopt;
  return parse_long_time(*wait, "--wait");
}

Expected<std::uint64_t> UseFlags::take(const Context& context, cluster::Cluster& cluster) {
  if (need == DeviceNeed::kLooks) return std::uint64_t{0};
  if (program == 0) program = random_program();
  PARETO_ASSIGN(const std::optional<Nanoseconds> patience, read_wait());
  control::DeviceUse use;
  use.exclusive = need == DeviceNeed::kMeasures && !share;
  use.command = command;
  use.user = this_user();
  use.program = program;
  use.lease = lease;
  use.term = term;
  use.waits = true;
  WaitingNote note(context);
  bool refused = false;
  bool may_share = use.exclusive;
  const auto waiting = [&](const std::string& device, const std::vector<control::Holder>& holders) {
    refused = true;
    may_share = use.exclusive && std::ranges::none_of(holders, &control::Holder::exclusive);
    if (wait && !holders.empty()) {
      note.show(
          fmt::format("waiting for {}: it is used by {}", device, control::to_string(holders)));
    }
    return true;
  };
  auto taken =
      cluster.take(use, std::chrono::steady_clock::now() + patience.value_or(kEnding), waiting);
  if (!taken && refused && taken.error().code == ErrorCode::kUnavailable) {
    taken.error().message += wait ? fmt::format("; not free within {}", *wait)
                                  : std::string("; --wait 10m waits for its turn");
    if (may_share) taken.error().message += ", --share measures next to it";
  }
  return taken;
}

std::string this_user() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::array<char, 1024> room{};
  passwd entry{};
  passwd* found = nullptr;
  std::string user = std::to_string(::getuid());
  if (::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    user = found->pw_name;
  }
  return printable(fmt::format("{} on {}", user, host.data()), control::kLongestName);
}

std::uint64_t random_program() {
  std::random_device numbers;
  std::uint64_t number = 0;
  while (number == 0) number = (std::uint64_t{numbers()} << 32) | numbers();
  return number;
}

}  // namespace pareto::client
