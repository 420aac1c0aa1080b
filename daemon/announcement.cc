#include "daemon/announcement.h"

#include <net/if.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-bus.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/poll.h"
#include "core/plan/protocol.h"
#include "core/transport/address.h"
#include "core/transport/socket.h"
#include "daemon/control/network_lease.h"

namespace pareto::daemon {
namespace {

// Avahi's interface: /usr/share/dbus-1/interfaces/org.freedesktop.Avahi.*.xml, avahi-common/defs.h.
constexpr const char* kAvahi = "org.freedesktop.Avahi";
constexpr const char* kServer = "org.freedesktop.Avahi.Server";
constexpr const char* kGroup = "org.freedesktop.Avahi.EntryGroup";
constexpr const char* kCollision = "org.freedesktop.Avahi.CollisionError";
constexpr int kServerRunning = 2;
constexpr int kGroupEstablished = 2;
constexpr int kGroupCollision = 3;
constexpr int kGroupFailure = 4;
constexpr int kAll = -1;  // interfaces, protocols
constexpr int kMostNames = 16;

constexpr std::chrono::microseconds kPatience = std::chrono::seconds(1);
// Between two tries, each twice as long as the one before.
constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(500);
constexpr Nanoseconds kLongestPause = std::chrono::minutes(1);

struct Unref {
  void operator()(sd_bus* bus) const { ::sd_bus_close_unref(bus); }
  void operator()(sd_bus_message* message) const { ::sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, Unref>;
using Message = std::unique_ptr<sd_bus_message, Unref>;

tl::unexpected<Error> bus_error(int negative_errno) {
  return fail(ErrorCode::kInternal, "D-Bus: {}", transport::errno_text(-negative_errno));
}

tl::unexpected<Error> no_bus(int negative_errno) {
  return fail(ErrorCode::kClosed, "no system bus ({})", transport::errno_text(-negative_errno));
}

/// kNotFound: there is no Avahi. kUnavailable: the name is taken.
ErrorCode code_of(const sd_bus_error& error) {
  for (const char* absent : {SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER}) {
    if (::sd_bus_error_has_name(&error, absent) != 0) return ErrorCode::kNotFound;
  }
  return ::sd_bus_error_has_name(&error, kCollision) != 0 ? ErrorCode::kUnavailable
                                                          : ErrorCode::kInternal;
}

/// A part that does all of it on the announcement's own thread: connected, told what Avahi does,
/// and told to stop by `waker`. Whatever fails is tried again on a connection of its own: Avahi
/// forgets what it was told over one that has ended, also what it had not come to yet.
class Announcer {
 public:
  explicit Announcer(AnnouncedService service) : service_(std::move(service)) {}

  void run(const transport::Waker& stop) {
    while (true) {
      const auto stopped = attend(stop);
      bus_.reset();
      if (stopped) return;
      say(stopped.error());
      const Deadline again = deadline_after(pause_);
      pause_ = std::min(2 * pause_, kLongestPause);
      const auto woken = transport::wait_until_ready(stop.descriptor(), POLLIN, nullptr, again);
      if (woken || woken.error().code != ErrorCode::kTimeout) return;
    }
  }

 private:
  /// Attends until it is stopped. Fails: kClosed (there is no bus, or it was lost), and as Avahi
  /// does.
  Expected<> attend(const transport::Waker& stop) {
    PARETO_TRY(connect());
    while (true) {
      const int done = ::sd_bus_process(bus_.get(), nullptr);
      if (done < 0) return no_bus(done);
      if (failed_) return tl::unexpected(*failed_);
      if (done > 0) continue;
      if (outdated_ && ::sd_bus_is_ready(bus_.get()) > 0) {
        outdated_ = false;
        PARETO_TRY(announce());
        continue;  // signals may have come with the answers
      }
      PARETO_ASSIGN(const bool stopped, wait(stop));
      if (stopped) return {};
    }
  }

  Expected<> connect() {
    outdated_ = true;
    group_.clear();
    failed_.reset();
    sd_bus* bus = nullptr;
    if (const int status = ::sd_bus_open_system(&bus); status < 0) return no_bus(status);
    bus_.reset(bus);
    ::sd_bus_set_method_call_timeout(bus_.get(), static_cast<std::uint64_t>(kPatience.count()));
    PARETO_TRY(
        hear("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
             "arg0='org.freedesktop.Avahi'",
             on_server_changed));
    PARETO_TRY(
        hear("type='signal',sender='org.freedesktop.Avahi',"
             "interface='org.freedesktop.Avahi.Server',member='StateChanged'",
             on_server_changed));
    return hear(
        "type='signal',sender='org.freedesktop.Avahi',"
        "interface='org.freedesktop.Avahi.EntryGroup',member='StateChanged'",
        on_group_changed);
  }

  Expected<bool> wait(const transport::Waker& stop) const {
    std::array<pollfd, 2> polled{
        {{::sd_bus_get_fd(bus_.get()), static_cast<short>(::sd_bus_get_events(bus_.get())), 0},
         {stop.descriptor(), POLLIN, 0}}};
    std::uint64_t until_us = UINT64_MAX;
    ::sd_bus_get_timeout(bus_.get(), &until_us);
    Deadline deadline;
    // steady_clock is CLOCK_MONOTONIC, as the bus's times are.
    if (until_us != UINT64_MAX) deadline = TimePoint(std::chrono::microseconds(until_us));
    const auto ready = poll_until(polled, deadline);
    if (!ready && ready.error().code != ErrorCode::kTimeout) return tl::unexpected(ready.error());
    return polled[1].revents != 0;
  }

  Expected<> hear(const char* match, sd_bus_message_handler_t handler) {
    const int status = ::sd_bus_add_match_async(bus_.get(), nullptr, match, handler, nullptr, this);
    return status < 0 ? bus_error(status) : Expected<>();
  }

  static int on_server_changed(sd_bus_message* /*signal*/, void* self, sd_bus_error* /*error*/) {
    static_cast<Announcer*>(self)->outdated_ = true;
    return 0;
  }

  static int on_group_changed(sd_bus_message* signal, void* self, sd_bus_error* /*error*/) {
    auto& announcer = *static_cast<Announcer*>(self);
    int state = 0;
    const char* reason = "";
    if (announcer.group_ != ::sd_bus_message_get_path(signal) ||
        ::sd_bus_message_read(signal, "is", &state, &reason) < 0) {
      return 0;
    }
    if (state == kGroupEstablished) {
      announcer.pause_ = kFirstPause;
      announcer.said_.clear();
      spdlog::info("announced as \"{}\" ({}, port {})", announcer.service_.name, plan::kServiceType,
                   announcer.service_.port);
    } else if (state == kGroupCollision) {
      announcer.taken_ = announcer.outdated_ = true;
    } else if (state == kGroupFailure) {
      announcer.failed_ = Error{ErrorCode::kInternal, fmt::format("Avahi: {}", reason)};
    }
    return 0;
  }

  /// A peer that is not there is waited for: the bus says when it is.
  Expected<> announce() {
    auto told = tell();
    if (told || told.error().code != ErrorCode::kNotFound) return told;
    pause_ = kFirstPause;
    say({ErrorCode::kNotFound, "no Avahi on the system bus"});
    return {};
  }

  /// Once, until it is announced or something else is in the way.
  void say(const Error& problem) {
    if (said_ == problem.message) return;
    said_ = problem.message;
    const bool nobody_there =
        problem.code == ErrorCode::kNotFound || problem.code == ErrorCode::kClosed;
    spdlog::log(nobody_there ? spdlog::level::debug : spdlog::level::warn, "not announced: {}",
                problem.message);
  }

  /// Announces the service. What was announced before is taken back first: the host's name or its
  /// networks may have changed.
  Expected<> tell() {
    if (!group_.empty()) static_cast<void>(call(group_, kGroup, "Free", ""));
    group_.clear();
    PARETO_ASSIGN(const Message state_reply, call("/", kServer, "GetState", ""));
    int state = 0;
    PARETO_TRY(read(state_reply, "i", &state));
    // It says when it is.
    if (state != kServerRunning) return {};
    if (std::exchange(taken_, false)) PARETO_TRY(take_other_name());
    PARETO_ASSIGN(const Message group_reply, call("/", kServer, "EntryGroupNew", ""));
    const char* path = "";
    PARETO_TRY(read(group_reply, "o", &path));
    group_ = path;
    for (int names = 1;; ++names) {
      auto added = add_service();
      if (added) break;
      if (added.error().code != ErrorCode::kUnavailable || names == kMostNames) return added;
      PARETO_TRY(take_other_name());
    }
    return call(group_, kGroup, "Commit", "").map([](const Message&) {});
  }

  Expected<> take_other_name() {
    PARETO_ASSIGN(const Message reply,
                  call("/", kServer, "GetAlternativeServiceName", "s", service_.name.c_str()));
    const char* name = "";
    PARETO_TRY(read(reply, "s", &name));
    service_.name = name;
    return {};
  }

  Expected<> add_service() {
    PARETO_ASSIGN(const Message message, method(group_, kGroup, "AddService"));
    const int interface = service_.interface.empty()
                              ? kAll
                              : static_cast<int>(::if_nametoindex(service_.interface.c_str()));
    // Domain and host are Avahi's own.
    int status = ::sd_bus_message_append(message.get(), "iiussssq", interface, kAll, 0U,
                                         service_.name.c_str(), plan::kServiceType, "", "",
                                         static_cast<int>(service_.port));
    if (status >= 0) status = ::sd_bus_message_open_container(message.get(), 'a', "ay");
    for (const std::string& entry : text_) {
      if (status >= 0) {
        status = ::sd_bus_message_append_array(message.get(), 'y', entry.data(), entry.size());
      }
    }
    if (status >= 0) status = ::sd_bus_message_close_container(message.get());
    if (status < 0) return bus_error(status);
    return send(message).map([](const Message&) {});
  }

  Expected<Message> method(const std::string& path, const char* interface, const char* member) {
    sd_bus_message* message = nullptr;
    int status = ::sd_bus_message_new_method_call(bus_.get(), &message, kAvahi, path.c_str(),
                                                  interface, member);
    Message owned(message);
    // Somebody who switched Avahi off wants it so.
    if (status >= 0) status = ::sd_bus_message_set_auto_start(message, 0);
    if (status < 0) return bus_error(status);
    return owned;
  }

  template <typename... Arguments>
  Expected<Message> call(const std::string& path, const char* interface, const char* member,
                         const char* types, Arguments... arguments) {
    PARETO_ASSIGN(const Message message, method(path, interface, member));
    const int status = ::sd_bus_message_append(message.get(), types, arguments...);
    if (status < 0) return bus_error(status);
    return send(message);
  }

  Expected<Message> send(const Message& message) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message* reply = nullptr;
    const int status = ::sd_bus_call(bus_.get(), message.get(), 0, &error, &reply);
    if (status >= 0) return Message(reply);
    if (::sd_bus_is_open(bus_.get()) <= 0) {
      ::sd_bus_error_free(&error);
      return no_bus(status);
    }
    Error told{
        code_of(error),
        fmt::format("Avahi: {}: {}", ::sd_bus_message_get_member(message.get()),
                    error.message != nullptr ? error.message : transport::errno_text(-status))};
    ::sd_bus_error_free(&error);
    return tl::unexpected(std::move(told));
  }

  template <typename T>
  static Expected<> read(const Message& message, const char* type, T* value) {
    const int status = ::sd_bus_message_read(message.get(), type, value);
    return status < 0 ? bus_error(status) : Expected<>();
  }

  AnnouncedService service_;
  /// The text that is announced next to name, host and port.
  const std::array<std::string, 2> text_{std::string("version=") + PARETO_VERSION,
                                         "name=" + service_.name};
  Bus bus_;
  std::string group_;     ///< the D-Bus object that stands for what was told; empty: nothing was
  bool outdated_ = true;  ///< whether what was announced has changed, or nothing was
  bool taken_ = false;    ///< the name, by another
  std::optional<Error> failed_;      ///< Avahi, to keep what it was told
  Nanoseconds pause_ = kFirstPause;  ///< pause before the next try
  std::string said_;                 ///< sentence about what is in the way
};

}  // namespace

struct Announcement::Impl {
  transport::Waker stop;
  std::jthread announcing;
};

std::optional<AnnouncedService> announced_service(const std::string& name,
                                                  const std::string& address) {
  const auto parsed = transport::parse_host_port(address);
  if (!parsed || transport::is_unix(address) || transport::is_loopback(address)) {
    return std::nullopt;
  }
  AnnouncedService service{name, parsed->port, ""};
  // What stands for every address (0.0.0.0) leads to this machine itself.
  const auto interface = interface_towards(parsed->host);
  if (interface && *interface != "lo") service.interface = *interface;
  return service;
}

Announcement::Announcement(AnnouncedService service) {
  auto stop = transport::Waker::create();
  if (!stop) {
    spdlog::warn("not announced: {}", stop.error().message);
    return;
  }
  impl_ = std::make_unique<Impl>(Impl{*std::move(stop), {}});
  impl_->announcing = std::jthread(
      [&waker = impl_->stop, service = std::move(service)] { Announcer(service).run(waker); });
}

Announcement::~Announcement() {
  if (impl_) impl_->stop.wake();
}

}  // namespace pareto::daemon
