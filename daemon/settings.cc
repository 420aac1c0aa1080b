// The table of settings: how each is read from text, checked, and written back.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/base/text.h"
#include "core/transport/address.h"
#include "core/transport/transport.h"
#include "daemon/config.h"
#include "runtime/shard_runner.h"

namespace pareto::daemon {
namespace {

using tls::CertificateFiles;

constexpr double kLeastSpeed = 0.01;
constexpr double kMostSpeed = 64;
constexpr int kMaxThreads = 256;
constexpr int kMaxCores = 1024;
constexpr std::uint64_t kLeastFrame = 1 << 20;
constexpr std::uint64_t kMostFrame = std::uint64_t{1} << 30;

Expected<int> parse_int(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not a whole number from {} to {}", text,
                least, most);
  }
  return value;
}

Expected<> check_address(const std::string& address) {
  return transport::parse_host_port(address).map([](const auto&) {});
}

Expected<DataAddress> parse_data(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" is not TRANSPORT=ADDRESS, as in tcp=0.0.0.0:7071 or shm=auto", text);
  }
  DataAddress data{text.substr(0, equals), text.substr(equals + 1)};
  std::vector<std::string> names;
  std::optional<transport::Reach> reach;
  for (const auto& transport : transport::builtin_transports()) {
    if (transport->reach() == transport::Reach::kProcess) continue;
    names.emplace_back(transport->name());
    if (data.transport == transport->name()) reach = transport->reach();
  }
  if (!reach) {
    return fail(ErrorCode::kInvalidArgument, "unknown transport \"{}\"{}; transports are {}",
                data.transport, did_you_mean(data.transport, names), join(names));
  }
  if (*reach == transport::Reach::kNetwork) {
    if (data.address != kAuto) PARETO_TRY(check_address(data.address));
  } else if (data.address.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{} needs a name, or \"auto\"", data.transport);
  }
  return data;
}

Expected<> set_data(DaemonConfig& config, const std::string& text) {
  std::vector<DataAddress> list;
  for (const std::string& part : split_list(text)) {
    PARETO_ASSIGN(DataAddress data, parse_data(part));
    for (const DataAddress& other : list) {
      if (other.transport == data.transport) {
        return fail(ErrorCode::kInvalidArgument, "{} stands twice", data.transport);
      }
    }
    list.push_back(std::move(data));
  }
  if (list.empty()) return fail(ErrorCode::kInvalidArgument, "at least one address is needed");
  config.data = std::move(list);
  return {};
}

/// Parses a list of cores: "0", "0,2", "0-3,6".
Expected<std::vector<int>> parse_cores(const std::string& text) {
  std::vector<int> cores;
  for (const std::string& part : split_list(text)) {
    const std::size_t dash = part.find('-');
    PARETO_ASSIGN(const int first, parse_int(part.substr(0, dash), 0, kMaxCores - 1));
    int last = first;
    if (dash != std::string::npos) {
      PARETO_ASSIGN(last, parse_int(part.substr(dash + 1), first, kMaxCores - 1));
    }
    for (int core = first; core <= last; ++core) cores.push_back(core);
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

Expected<double> parse_speed(std::string_view text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() &&
      (value == 0 || (value >= kLeastSpeed && value <= kMostSpeed))) {
    return value;
  }
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" is neither 0 (all this machine gives) nor {} to {}", text, kLeastSpeed,
              kMostSpeed);
}

template <auto Member>
Expected<> set_text(DaemonConfig& config, const std::string& text) {
  config.*Member = text;
  return {};
}
template <auto Member>
std::string get_text(const DaemonConfig& config) {
  return config.*Member;
}
template <auto Member>
Expected<> set_tls(DaemonConfig& config, const std::string& text) {
  config.metrics_tls.*Member = text;
  return {};
}
template <auto Member>
std::string get_tls(const DaemonConfig& config) {
  return config.metrics_tls.*Member;
}
template <auto Member>
Expected<> set_bytes(DaemonConfig& config, const std::string& text) {
  PARETO_ASSIGN(config.*Member, parse_bytes(text));
  return {};
}
/// Longest time that can be set; a longer one would count as for ever.
constexpr std::chrono::hours kLongestTimeout{24 * 365};
template <auto Member>
Expected<> set_timeout(DaemonConfig& config, const std::string& text) {
  PARETO_ASSIGN(const Nanoseconds time, parse_duration(text));
  if (time <= Nanoseconds(0) || time > kLongestTimeout) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not more than 0 and at most a year", text);
  }
  config.*Member = time;
  return {};
}
template <auto Member>
std::string get_time(const DaemonConfig& config) {
  return fmt::format("{}ns", (config.*Member).count());
}
template <auto Member>
std::string get_bytes(const DaemonConfig& config) {
  return std::to_string(config.*Member);
}

/// Least share of the time that a device can be limited to.
constexpr double kLeastBusy = 0.01;

Expected<> set_busy(DaemonConfig& config, const std::string& text) {
  PARETO_ASSIGN(const double share, parse_share(text));
  if (share < kLeastBusy) {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is not between 1% and 100%", text);
  }
  config.limit_busy = share;
  return {};
}

/// Parses a value that is true or false, and sets it.
template <auto Member>
Expected<> set_flag(DaemonConfig& config, const std::string& text) {
  if (text != "true" && text != "false") {
    return fail(ErrorCode::kInvalidArgument, "\"{}\" is neither true nor false", text);
  }
  config.*Member = text == "true";
  return {};
}
template <auto Member>
std::string get_flag(const DaemonConfig& config) {
  return config.*Member ? "true" : "false";
}

const std::array<Setting, 30> kSettings{{
    {"listen", "ADDR",
     "address of the control service: HOST:PORT, or unix:/FILE; port 0 picks a free one; auto is "
     "0.0.0.0:7070 with credentials, 127.0.0.1:7070 without (default: auto)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       if (!transport::is_unix(text) && text != kAuto) PARETO_TRY(check_address(text));
       config.listen = text;
       return {};
     },
     get_text<&DaemonConfig::listen>},
    {"data", "TRANSPORT=ADDR",
     "address at which links of a transport come in; may be given once for each transport; auto "
     "is port 7071 of tcp, 7072 of grpc, at the host of listen's auto (default: "
     "tcp=auto,grpc=auto,shm=auto)",
     false, set_data,
     [](const DaemonConfig& config) {
       std::vector<std::string> parts;
       for (const auto& data : config.data) parts.push_back(data.transport + "=" + data.address);
       return join(parts, ",");
     }},
    {"socket", "FILE",
     "Unix socket of the control service for users of this machine; off: none; auto: "
     "paretod.socket in the service's runtime folder, or in state_dir (default: auto)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       if (!text.starts_with('/') && text != "off" && text != kAuto) {
         return fail(ErrorCode::kInvalidArgument, "\"{}\" is neither /FILE nor auto nor off", text);
       }
       config.socket = text;
       return {};
     },
     get_text<&DaemonConfig::socket>},
    {"credentials", "FOLDER",
     "folder of certificate.pem, key.pem and authority.pem, as paretod enroll writes it: then "
     "everything over a network is mutual TLS",
     false, set_text<&DaemonConfig::credentials>, get_text<&DaemonConfig::credentials>},
    {"insecure", "BOOL",
     "true lets everybody in who reaches this daemon, without credentials; for test beds (default: "
     "false)",
     false, set_flag<&DaemonConfig::insecure>, get_flag<&DaemonConfig::insecure>},
    {"name", "NAME", "name that coordinators see (default: the host's name)", false,
     set_text<&DaemonConfig::name>, get_text<&DaemonConfig::name>},
    {"state_dir", "FOLDER",
     "folder for received weights, which belongs to this daemon only (default: pareto-edge/paretod "
     "below $XDG_STATE_HOME or ~/.local/state)",
     false, set_text<&DaemonConfig::state_dir>, get_text<&DaemonConfig::state_dir>},
    {"store_limit", "SIZE", "size of the weights that are kept on disk (default: 8GiB)", true,
     set_bytes<&DaemonConfig::store_limit_bytes>, get_bytes<&DaemonConfig::store_limit_bytes>},
    {"memory_limit", "SIZE",
     "memory that shards may take; 0: what the machine has free (default: 0)", true,
     set_bytes<&DaemonConfig::memory_limit_bytes>, get_bytes<&DaemonConfig::memory_limit_bytes>},
    {"request_memory", "SIZE",
     "memory that one request may take while it computes, with its tensors, lists and texts; 0: "
     "half of what the machine has (default: 0)",
     true, set_bytes<&DaemonConfig::request_memory_bytes>,
     get_bytes<&DaemonConfig::request_memory_bytes>},
    {"limit_cores", "N",
     "cores that shards may compute on together, and this daemon may keep busy; 0: all of --cpu "
     "(default: 0)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_ASSIGN(config.limit_cores, parse_int(text, 0, kMaxCores));
       return {};
     },
     [](const DaemonConfig& config) { return std::to_string(config.limit_cores); }},
    {"limit_busy", "SHARE",
     "share of these cores' processor time that this daemon may use, 1% to 100% (default: 100%)",
     true, set_busy,
     [](const DaemonConfig& config) { return fmt::format("{:.6g}%", config.limit_busy * 100); }},
    {"turns", "POLICY",
     "order in which pipelines compute here: fair shares cores by their weights, fifo takes "
     "requests as they came, deadline takes the most urgent one (default: fair)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_TRY(device::make_turn_policy(text));
       config.turns = text;
       return {};
     },
     get_text<&DaemonConfig::turns>},
    {"cpu", "LIST", "cores to run on, as 0 or 0-2,5 (default: all of them)", false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_ASSIGN(config.cpu, parse_cores(text));
       return {};
     },
     [](const DaemonConfig& config) { return fmt::format("{}", fmt::join(config.cpu, ",")); }},
    {"threads", "N",
     "number of threads that compute a shard if its coordinator names none; auto: one for each "
     "core of --cpu, as far as the CPU quota goes (default: auto)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       config.threads = 0;
       if (text == kAuto) return {};
       const auto threads = parse_int(text, 1, kMaxThreads);
       if (!threads) {
         return fail(ErrorCode::kInvalidArgument,
                     "\"{}\" is neither auto nor a whole number from 1 to {}", text, kMaxThreads);
       }
       config.threads = *threads;
       return {};
     },
     [](const DaemonConfig& config) {
       return config.threads == 0 ? std::string(kAuto) : std::to_string(config.threads);
     }},
    {"device", "DEVICE",
     "device that runs shards: cpu, or cuda:N if LibTorch has CUDA (default: cpu)", false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_TRY(runtime::check_device(text));
       config.device = text;
       return {};
     },
     get_text<&DaemonConfig::device>},
    {"operators", "LIB.so,...", "libraries of operators that LibTorch does not have", false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       config.operators = split_list(text);
       return {};
     },
     [](const DaemonConfig& config) { return join(config.operators, ","); }},
    {"speed", "CORES",
     "speed of an imitated device, in cores of this machine, as 0.5; 0: this machine as it is "
     "(default: 0)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_ASSIGN(config.speed, parse_speed(text));
       return {};
     },
     [](const DaemonConfig& config) { return fmt::format("{}", config.speed); }},
    {"steady", "FILE",
     "file of operator times, which an imitated device takes whatever disturbs this machine", false,
     set_text<&DaemonConfig::steady>, get_text<&DaemonConfig::steady>},
    {"max_frame", "SIZE", "largest message that a link accepts, 1MiB to 1GiB (default: 1GiB)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_ASSIGN(const std::uint64_t bytes, parse_bytes(text));
       if (bytes < kLeastFrame || bytes > kMostFrame) {
         return fail(ErrorCode::kInvalidArgument, "\"{}\" is not between 1MiB and 1GiB", text);
       }
       config.max_frame_bytes = bytes;
       return {};
     },
     get_bytes<&DaemonConfig::max_frame_bytes>},
    {"drain_timeout", "TIME", "time that requests in flight get at SIGTERM (default: 10s)", true,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       PARETO_ASSIGN(config.drain_timeout, parse_duration(text));
       return {};
     },
     get_time<&DaemonConfig::drain_timeout>},
    {"load_timeout", "TIME", "time after which loading a shard is given up (default: 10min)", false,
     set_timeout<&DaemonConfig::load_timeout>, get_time<&DaemonConfig::load_timeout>},
    {"request_timeout", "TIME",
     "time after which a request that still computes fails (default: 5min)", false,
     set_timeout<&DaemonConfig::request_timeout>, get_time<&DaemonConfig::request_timeout>},
    {"log_level", "LEVEL",
     "least severe messages that are logged: trace, debug, info, warn, error or off (default: "
     "info)",
     true,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       static const std::array<std::string, 6> kLevels{"trace", "debug", "info",
                                                       "warn",  "error", "off"};
       if (std::ranges::find(kLevels, text) == kLevels.end()) {
         return fail(ErrorCode::kInvalidArgument, "unknown level \"{}\"{}; levels are {}", text,
                     did_you_mean(text, kLevels), join(kLevels));
       }
       config.log_level = text;
       return {};
     },
     get_text<&DaemonConfig::log_level>},
    {"allow_netem", "BOOL",
     "true lets coordinators make this device's network worse (default: false)", false,
     set_flag<&DaemonConfig::allow_netem>, get_flag<&DaemonConfig::allow_netem>},
    {"metrics", "ADDR",
     "address at which GET /metrics is answered for Prometheus, HOST:PORT (default: at no address)",
     false,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       if (!text.empty()) PARETO_TRY(check_address(text));
       config.metrics = text;
       return {};
     },
     get_text<&DaemonConfig::metrics>},
    {"metrics_certificate", "FILE", "certificate (PEM) to answer with over TLS", false,
     set_tls<&CertificateFiles::certificate>, get_tls<&CertificateFiles::certificate>},
    {"metrics_key", "FILE", "key (PEM) of --metrics-certificate", false,
     set_tls<&CertificateFiles::key>, get_tls<&CertificateFiles::key>},
    {"metrics_client_ca", "FILE", "certificates (PEM), one of which has to have signed a client's",
     false, set_tls<&CertificateFiles::client_ca>, get_tls<&CertificateFiles::client_ca>},
    {"discovery", "HOW",
     "mdns announces this daemon by Avahi, for paretoctl discover; off announces nothing (default: "
     "mdns)",
     true,
     [](DaemonConfig& config, const std::string& text) -> Expected<> {
       if (text != "mdns" && text != "off") {
         return fail(ErrorCode::kInvalidArgument, "\"{}\" is neither mdns nor off", text);
       }
       config.discovery = text;
       return {};
     },
     get_text<&DaemonConfig::discovery>},
}};

}  // namespace

std::span<const Setting> settings() { return kSettings; }

std::string flag_of(const Setting& setting) {
  std::string flag = "--" + setting.key;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string variable_of(const Setting& setting) {
  std::string name = "PARETOD_" + setting.key;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return name;
}

}  // namespace pareto::daemon
