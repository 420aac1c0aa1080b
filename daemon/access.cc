#include "daemon/access.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/tls/observers.h"
#include "core/tls/server_certificate.h"
#include "core/transport/address.h"

namespace pareto::daemon {
namespace {

constexpr std::string_view kLoopback = "127.0.0.1";
constexpr std::string_view kEveryNetwork = "0.0.0.0";
/// The longest name of a Unix socket that Linux takes.
constexpr std::size_t kLongestSocket = 107;

/// Returns the port of a transport whose address is "auto"; 0 if it needs none.
int usual_port(std::string_view transport) {
  if (transport == "tcp") return 7071;
  return transport == "grpc" ? 7072 : 0;
}

/// Checks an address of a daemon without credentials. Fails: kInvalidArgument.
Expected<> check_closed(const DaemonConfig& config, const std::string& setting,
                        const std::string& address) {
  if (config.insecure || !transport::is_of_network(address)) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      "{} {} is reached from other machines, and this daemon has no credentials{}: everybody there "
      "would come in. Two commands make credentials: paretoctl pki issue {} where you "
      "work, and here the paretod enroll that it prints. --insecure lets everybody in, for test "
      "beds",
      setting, address, config.credentials.empty() ? "" : " in " + config.credentials,
      config.name.empty() ? "NAME" : config.name);
}

}  // namespace

Expected<Access> settle_access(const DaemonConfig& config) {
  Access access;
  if (!config.credentials.empty()) {
    auto opened = tls::Credentials::open(config.credentials);
    if (!opened && opened.error().code != ErrorCode::kNotFound) {
      return tl::unexpected(std::move(opened).error());
    }
    if (opened) access.credentials = *std::move(opened);
  }
  const bool secured = access.credentials != nullptr;
  if (secured && config.insecure) {
    return fail(ErrorCode::kInvalidArgument,
                "insecure lets everybody in, and {} holds credentials that let in few: leave one "
                "of the two out",
                config.credentials);
  }
  if (secured && access.credentials->identity().role != tls::Role::kDevice) {
    return fail(ErrorCode::kInvalidArgument,
                "credentials: {} is {}, and a daemon needs a device's: paretod enroll makes them",
                config.credentials, tls::to_string(access.credentials->identity()));
  }
  const std::string_view host = secured ? kEveryNetwork : kLoopback;
  access.listen = config.listen == kAuto ? fmt::format("{}:7070", host) : config.listen;
  for (DataAddress data : config.data) {
    const int port = usual_port(data.transport);
    if (data.address == kAuto && port > 0) data.address = fmt::format("{}:{}", host, port);
    access.data.push_back(std::move(data));
  }
  if (secured) return access;
  PARETO_TRY(check_closed(config, "listen", access.listen));
  for (const DataAddress& data : access.data) {
    PARETO_TRY(check_closed(config, "data " + data.transport, data.address));
  }
  if (config.metrics_tls.certificate.empty()) {
    PARETO_TRY(check_closed(config, "metrics", config.metrics));
  }
  return access;
}

Expected<std::shared_ptr<tls::ServerTls>> Access::metrics_tls(const DaemonConfig& config) const {
  if (!config.metrics_tls.certificate.empty() || !credentials) {
    PARETO_ASSIGN(auto certificate,
                  with_context(tls::ServerCertificate::load(config.metrics_tls), "metrics"));
    return certificate;
  }
  return std::make_shared<tls::Observers>(credentials);
}

std::string user_socket(const DaemonConfig& config, const std::string& state_dir) {
  if (config.socket == "off" || transport::is_unix(config.listen)) return "";
  if (config.socket != kAuto) return config.socket;
  // systemd names the folders of its unit, with a colon between them.
  const char* const runtime = std::getenv("RUNTIME_DIRECTORY");
  const std::string_view folders = runtime != nullptr ? runtime : "";
  const std::string folder(folders.substr(0, folders.find(':')));
  const std::filesystem::path file =
      std::filesystem::path(folder.starts_with('/') ? folder : state_dir) / "paretod.socket";
  return file.string().size() <= kLongestSocket ? file.string() : "";
}

}  // namespace pareto::daemon
