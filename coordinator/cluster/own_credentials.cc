#include "coordinator/cluster/own_credentials.h"

#include <filesystem>
#include <utility>

#include "core/tls/credentials.h"
#include "core/tls/credentials_folder.h"

namespace pareto::cluster {

Expected<> give_credentials(const CredentialsChoice& choice, std::vector<DeviceConfig>& devices) {
  if (choice.insecure) {
    if (!choice.folder.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--insecure uses no credentials: leave it or --credentials out");
    }
    for (DeviceConfig& device : devices) device.insecure = true;
    return {};
  }
  auto opened =
      tls::Credentials::open(choice.folder.empty() ? tls::user_folder("credentials")
                                                   : std::filesystem::path(choice.folder));
  if (!opened && choice.folder.empty() && opened.error().code == ErrorCode::kNotFound) return {};
  PARETO_ASSIGN(std::shared_ptr<tls::Credentials> found, std::move(opened));
  PARETO_ASSIGN(const auto own,
                tls::keep_fresh(std::move(found), choice.complain, choice.refresh_every));
  for (DeviceConfig& device : devices) {
    if (!device.insecure) device.credentials = own;
  }
  return {};
}

}  // namespace pareto::cluster
