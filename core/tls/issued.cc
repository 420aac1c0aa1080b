#include "core/tls/issued.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/base/json_integer.h"
#include "core/base/json_parse.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"

namespace pareto::tls {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr int kIndexVersion = 1;
constexpr std::size_t kLongestSerial = 40;  // 20 bytes, which RFC 5280 allows

Json time_json(sys_seconds time) { return time.time_since_epoch().count(); }

sys_seconds time_at(const Json& json, const char* key) {
  return sys_seconds(seconds(json_integer_at<std::int64_t>(json, key)));
}

Json certificate_json(const IssuedCertificate& certificate) {
  return {{"name", certificate.identity.name},
          {"role", std::string(to_string(certificate.identity.role))},
          {"serial", certificate.serial},
          {"key", certificate.key.hex()},
          {"from", time_json(certificate.from)},
          {"until", time_json(certificate.until)},
          {"revoked", certificate.revoked ? time_json(*certificate.revoked) : Json()}};
}

Expected<> check_serial(const std::string& serial) {
  const auto is_digit = [](unsigned char c) {
    return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f');
  };
  if (!serial.empty() && serial.size() <= kLongestSerial && std::ranges::all_of(serial, is_digit)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, "\"serial\" is no lower-case hexadecimal number");
}

Expected<IssuedCertificate> certificate_from(const Json& json) {
  IssuedCertificate certificate;
  certificate.identity.name = json.at("name").get<std::string>();
  PARETO_TRY(valid_name(certificate.identity.name));
  PARETO_ASSIGN(certificate.identity.role, parse_role(json.at("role").get<std::string>()));
  certificate.serial = json.at("serial").get<std::string>();
  PARETO_TRY(check_serial(certificate.serial));
  PARETO_ASSIGN(certificate.key, parse_digest(json.at("key").get<std::string>()));
  certificate.from = time_at(json, "from");
  certificate.until = time_at(json, "until");
  if (!json.at("revoked").is_null()) certificate.revoked = time_at(json, "revoked");
  return certificate;
}

Expected<IssuedIndex> index_from(const Json& json) {
  IssuedIndex index;
  if (const int version = json_integer_at<int>(json, "version"); version != kIndexVersion) {
    return fail(ErrorCode::kInvalidArgument, "its version is {}, this program reads {}", version,
                kIndexVersion);
  }
  index.list_number = json_integer_at<std::int64_t>(json, "list_number");
  const Json& certificates = json.at("certificates");
  if (!certificates.is_array()) {
    return fail(ErrorCode::kInvalidArgument, "\"certificates\" is no list");
  }
  for (std::size_t i = 0; i < certificates.size(); ++i) {
    PARETO_ASSIGN(IssuedCertificate certificate,
                  with_context(certificate_from(certificates[i]), "certificate {}", i + 1));
    index.certificates.push_back(std::move(certificate));
  }
  return index;
}

}  // namespace

std::string_view to_string(IssuedState state) {
  switch (state) {
    case IssuedState::kValid:
      return "valid";
    case IssuedState::kReplaced:
      return "replaced";
    case IssuedState::kExpired:
      return "expired";
    case IssuedState::kRevoked:
      return "revoked";
  }
  return "unknown";
}

bool is_same_peer(const Identity& one, const Identity& other) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return one.role == other.role && std::ranges::equal(one.name, other.name, {}, lower, lower);
}

IssuedState state_of(const IssuedIndex& index, const IssuedCertificate& certificate,
                     sys_seconds now) {
  if (certificate.revoked) return IssuedState::kRevoked;
  if (certificate.until <= now) return IssuedState::kExpired;
  const auto same =
      std::ranges::find(index.certificates, certificate.serial, &IssuedCertificate::serial);
  const bool replaced =
      same != index.certificates.end() &&
      std::any_of(same + 1, index.certificates.end(), [&](const IssuedCertificate& later) {
        return !later.revoked && is_same_peer(later.identity, certificate.identity);
      });
  return replaced ? IssuedState::kReplaced : IssuedState::kValid;
}

std::string to_json(const IssuedIndex& index) {
  Json certificates = Json::array();
  for (const IssuedCertificate& certificate : index.certificates) {
    certificates.push_back(certificate_json(certificate));
  }
  return dump({{"version", kIndexVersion},
               {"list_number", index.list_number},
               {"certificates", std::move(certificates)}},
              2) +
         "\n";
}

Expected<IssuedIndex> issued_index_from(std::string_view text) {
  try {
    auto index = index_from(parse_json<Json>(text));
    if (!index) index.error().code = ErrorCode::kCorrupt;
    return index;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}", json_reason(error));
  }
}

}  // namespace pareto::tls
