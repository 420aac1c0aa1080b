#include "daemon/config.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "core/base/config_reader.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/protocol.h"

namespace pareto::daemon {
namespace {

constexpr const char* kConfigVariable = "PARETOD_CONFIG";

constexpr const char* kExamples =
    "Examples:\n"
    "  paretod                                            for users of this machine\n"
    "  paretod --config /etc/pareto-edge/paretod.yaml\n"
    "  paretod --credentials /etc/pareto-edge/credentials  every network, by mutual TLS\n"
    "  paretod --listen 127.0.0.1:0 --data tcp=127.0.0.1:0 --state-dir /tmp/one --ready-fd 1\n"
    "  paretod --cpu 0 --memory-limit 512MiB --check-config\n"
    "  sudo paretod enroll 192.168.1.10:7069 --token ... --authority SHA256:...\n"
    "\n"
    "Every setting is also a key of the configuration file (--store-limit: store_limit) and a "
    "variable\n(PARETOD_STORE_LIMIT). --limit-busy is busy in its section limits. Flags win over "
    "variables, and\nvariables over the file.\n"
    "\n"
    "Signals: TERM and INT finish what is in flight and exit with 0; a second one does not wait.\n"
    "HUP reads the configuration again.\n"
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  failed while running\n"
    "  2  wrong flags or configuration\n"
    "  3  the environment refuses (port in use, no permission)";

constexpr const char* kEnrolmentExamples =
    "Examples:\n"
    "  sudo paretod enroll 192.168.1.10:7069 --token 8wq2n-... --authority SHA256:5f0c...\n"
    "  echo TOKEN | sudo paretod enroll 192.168.1.10:7069 --token - --authority SHA256:5f0c...\n"
    "\n"
    "`paretoctl pki issue NAME` on the coordinator prints the command with its values. The key is "
    "made\nhere and never sent. Restart the daemon after the first enrolment. It reads renewed\n"
    "files within a minute.\n"
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  failed on the way\n"
    "  2  wrong arguments\n"
    "  3  refused: nobody there, wrong token, another authority, no permission\n";

constexpr std::string_view kLimits = "limits";
constexpr std::string_view kLimitPrefix = "limit_";

/// Returns the name of a setting in the file's section of limits; none if it does not stand there.
std::optional<std::string> name_among_limits(const Setting& setting) {
  if (setting.key == "memory_limit") return "memory";
  if (!setting.key.starts_with(kLimitPrefix)) return std::nullopt;
  return setting.key.substr(kLimitPrefix.size());
}

void read_limits(ConfigSection& root, DaemonConfig& config) {
  auto section = root.section(std::string(kLimits));
  if (!section) return;
  for (const Setting& setting : settings()) {
    const auto name = name_among_limits(setting);
    if (!name) continue;
    std::string text;
    section->optional(*name, text);
    if (!section->has(*name)) continue;
    if (setting.key == "memory_limit" && root.has(setting.key)) {
      section->problem(*name, "it is memory_limit, which stands in the file too: leave one out");
    }
    if (auto set = setting.set(config, text); !set) section->problem(*name, set.error().message);
  }
}

/// Returns the text at a key of the file, in the form that the setting reads.
void read_key(ConfigSection& root, const Setting& setting, DaemonConfig& config) {
  std::string text;
  if (setting.key == "data") {
    // In the file this is a mapping: it reads better, and each address has a line of its own.
    auto section = root.section("data");
    if (!section) return;
    std::vector<std::string> parts;
    for (const auto& [transport, address] : section->entries()) {
      parts.push_back(fmt::format("{}={}", transport, address));
    }
    text = join(parts, ",");
  } else {
    if (!root.has(setting.key)) {
      root.optional(setting.key, text);
      return;
    }
    root.optional(setting.key, text);
  }
  if (auto set = setting.set(config, text); !set) root.problem(setting.key, set.error().message);
}

Expected<> read_config_file(const std::string& path, DaemonConfig& config) {
  PARETO_ASSIGN(ConfigReader file, ConfigReader::from_file(path));
  ConfigSection root = file.root();
  for (const Setting& setting : settings()) {
    if (!setting.key.starts_with(kLimitPrefix)) read_key(root, setting, config);
  }
  read_limits(root, config);
  return file.finish();
}

using Variables = std::map<std::string, std::string>;

Expected<Variables> variables_of(const std::vector<std::string>& environment) {
  std::vector<std::string> known{kConfigVariable};
  for (const Setting& setting : settings()) known.push_back(variable_of(setting));
  Variables variables;
  for (const std::string& entry : environment) {
    if (!entry.starts_with("PARETOD_")) continue;
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::kInvalidArgument, "unknown variable {}{}", name,
                  did_you_mean(name, known));
    }
    variables[name] = equals == std::string::npos ? "" : entry.substr(equals + 1);
  }
  return variables;
}

/// Adds `paretod enroll`.
CLI::App& add_enrolment(CLI::App& app, EnrolmentFlags& flags) {
  CLI::App* const enroll =
      app.add_subcommand("enroll", "make a key here and get its certificate from a coordinator");
  enroll->footer(kEnrolmentExamples);
  enroll->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  enroll->add_option("address", flags.address, "address of paretoctl pki issue: HOST:PORT")
      ->required();
  set_value(enroll->add_option("--token", flags.token,
                               "one-time token of the invitation; -: read it from stdin"),
            "TOKEN")
      ->required();
  set_value(enroll->add_option("--authority", flags.authority,
                               "fingerprint of the authority, by which it is known here"),
            "FINGERPRINT")
      ->required();
  set_value(enroll->add_option("--name", flags.name,
                               "refuse a certificate of another name (default: the invited name)"),
            "NAME");
  set_value(enroll->add_option("--credentials", flags.credentials,
                               "folder of their own for key and certificates"),
            "FOLDER")
      ->capture_default_str();
  return *enroll;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) flags.push_back(option->get_name());
  return flags;
}

}  // namespace

Expected<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(
      "The daemon of a device: keeps weights, runs shards, and passes activations on. "
      "paretoctl tells it what to do.",
      "paretod");
  app.footer(kExamples);
  app.allow_extras();
  set_help_format(app, 0);
  UsageFlags usage;
  usage.add_to(app);
  bool version = false;
  app.add_flag("--version", version, "print the version");
  app.add_option("--config", line.config_file, "YAML file of settings, as configs/paretod.yaml")
      ->type_name("FILE");
  EnrolmentFlags enrolment;
  const CLI::App& enroll = add_enrolment(app, enrolment);
  std::vector<std::vector<std::string>> given(settings().size());
  for (std::size_t i = 0; i < settings().size(); ++i) {
    const Setting& setting = settings()[i];
    auto* option = app.add_option(flag_of(setting), given[i], setting.help);
    option->type_name(setting.value_name)->type_size(1)->expected(1);
    // What is false by default may be turned on by its flag alone.
    if (setting.value_name == "BOOL") option->expected(0, 1);
    // Without it, "[::1]" would be read as a list, and lose its brackets.
    option->allow_extra_args(false);
    option->multi_option_policy(setting.key == "data" ? CLI::MultiOptionPolicy::TakeAll
                                                      : CLI::MultiOptionPolicy::TakeLast);
  }
  app.add_option("--ready-fd", line.ready_fd,
                 "descriptor that gets one line of JSON with the addresses once this daemon serves")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20).description(""));
  app.add_flag("--exit-with-parent", line.exit_with_parent,
               "end when the process that started this one ends");
  app.add_flag("--check-config", line.check_config, "check the settings and start nothing");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.print = app.help();
    return line;
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kInvalidArgument, "{}", error.what());
  }
  if (const auto extras = app.remaining(/*recurse=*/true); !extras.empty()) {
    return fail(ErrorCode::kInvalidArgument, "unknown argument {}{}", extras.front(),
                did_you_mean(extras.front(), flags_of(enroll.parsed() ? enroll : app)));
  }
  if (enroll.parsed()) line.enrolment = std::move(enrolment);
  line.print = usage.text(app, 8, "paretoctl(1)");
  if (version) {
    line.print = fmt::format("paretod {}, protocol {}\n", PARETO_VERSION, plan::kProtocolVersion);
  }
  for (std::size_t i = 0; i < settings().size(); ++i) {
    if (settings()[i].value_name == "BOOL" && given[i] == std::vector<std::string>{""}) {
      given[i] = {"true"};
    }
    if (!given[i].empty()) line.values.emplace_back(settings()[i].key, join(given[i], ","));
  }
  return line;
}

Expected<DaemonConfig> load_config(const CommandLine& command_line,
                                   const std::vector<std::string>& environment) {
  DaemonConfig config;
  PARETO_ASSIGN(const Variables variables, variables_of(environment));
  std::string path = command_line.config_file.value_or("");
  if (const auto found = variables.find(kConfigVariable);
      !command_line.config_file && found != variables.end()) {
    path = found->second;
  }
  if (!path.empty()) PARETO_TRY(read_config_file(path, config));
  for (const Setting& setting : settings()) {
    const auto found = variables.find(variable_of(setting));
    if (found == variables.end()) continue;
    PARETO_TRY(with_context(setting.set(config, found->second), "{}", found->first));
  }
  for (const auto& [key, text] : command_line.values) {
    const auto setting = std::ranges::find(settings(), key, &Setting::key);
    PARETO_TRY(with_context(setting->set(config, text), "{}", flag_of(*setting)));
  }
  PARETO_TRY(with_context(config.metrics_tls.check(), "metrics_certificate, metrics_key"));
  if (config.metrics.empty() && !config.metrics_tls.certificate.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "metrics_certificate {} is for nobody to see: say where metrics are answered too "
                "(metrics: 0.0.0.0:9092), or leave it out",
                config.metrics_tls.certificate);
  }
  return config;
}

std::vector<std::string> process_environment() {
  std::vector<std::string> list;
  for (char** entry = environ; *entry != nullptr; ++entry) list.emplace_back(*entry);
  return list;
}

}  // namespace pareto::daemon
