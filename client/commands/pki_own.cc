// pki: the authority itself, this machine's own credentials, and what was issued.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/commands/pki_flags.h"
#include "client/commands/show.h"
#include "client/report/text_table.h"
#include "coordinator/enrolment/local_credentials.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/tls/credentials_folder.h"
#include "core/tls/enrolment.h"
#include "core/tls/utc_text.h"

namespace pareto::client::commands {
namespace {

using PkiJson = nlohmann::ordered_json;

constexpr std::chrono::days kSoon{30};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

PkiJson certificate_json(const tls::IssuedCertificate& certificate) {
  return {{"name", certificate.identity.name},
          {"role", std::string(to_string(certificate.identity.role))},
          {"serial", certificate.serial},
          {"from", tls::utc_text(certificate.from)},
          {"until", tls::utc_text(certificate.until)}};
}

/// Makes this machine's own credentials, if it has none.
Expected<bool> make_own(Context& context, const PkiFlags& flags, tls::Authority& authority) {
  const auto folder = flags.credentials_folder();
  const auto there = tls::Credentials::open(folder);
  if (there && enrolment::are_of(authority, folder)) return false;
  if (there) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: these credentials are of another authority than {}: move them away, or name "
                "another folder by --credentials",
                folder.string(), authority.folder().string());
  }
  if (there.error().code != ErrorCode::kNotFound) return tl::unexpected(there.error());
  tls::Identity own{flags.action == "init" ? flags.name : "", tls::Role::kCoordinator};
  if (own.name.empty()) own.name = enrolment::name_of_host(host_name());
  PARETO_TRY(tls::valid_name(own.name));
  PARETO_ASSIGN(const tls::SigningTerms terms, flags.terms(tls::OtherKeys::kRefuse));
  PARETO_ASSIGN(const tls::IssuedCertificate made,
                enrolment::make_credentials(authority, own, terms, folder));
  context.err << fmt::format("this machine is {} until {}: {}\n", to_string(own),
                             tls::utc_text(made.until), folder.string());
  return true;
}

Expected<std::unique_ptr<tls::Authority>> make_authority(Context& context, const PkiFlags& flags) {
  PARETO_ASSIGN(auto authority,
                tls::Authority::create(flags.authority_folder(),
                                       fmt::format("Pareto Edge authority of {}",
                                                   enrolment::name_of_host(host_name()))));
  context.err << fmt::format(
      "made an authority: {}\n  Who reads this folder can become any device: keep it, and a copy "
      "of it, safe.\n",
      authority->folder().string());
  return authority;
}

report::RowStyle style_of_state(tls::IssuedState state, std::chrono::sys_seconds until,
                                std::chrono::sys_seconds now) {
  if (state != tls::IssuedState::kValid) return report::RowStyle::kFaint;
  return until <= now + kSoon ? report::RowStyle::kWarning : report::RowStyle::kPlain;
}

}  // namespace

Expected<std::unique_ptr<tls::Authority>> open_or_make_authority(Context& context,
                                                                 const PkiFlags& flags) {
  auto opened = tls::Authority::open(flags.authority_folder());
  if (opened || opened.error().code != ErrorCode::kNotFound) return opened;
  PARETO_ASSIGN(auto authority, make_authority(context, flags));
  PARETO_TRY(make_own(context, flags, *authority));
  return authority;
}

Expected<int> init_pki(Context& context, const PkiFlags& flags) {
  auto authority = tls::Authority::open(flags.authority_folder());
  const bool made = !authority && authority.error().code == ErrorCode::kNotFound;
  if (made) authority = make_authority(context, flags);
  PARETO_TRY(authority);
  PARETO_ASSIGN(const bool made_own, make_own(context, flags, **authority));
  if (!made && !made_own) {
    context.err << fmt::format("nothing to do: there are an authority ({}) and credentials ({})\n",
                               (*authority)->folder().string(),
                               flags.credentials_folder().string());
  }
  const std::string fingerprint = tls::fingerprint_text((*authority)->fingerprint());
  if (flags.json) {
    context.out << dump({{"authority", (*authority)->folder().string()},
                         {"fingerprint", fingerprint},
                         {"until", tls::utc_text((*authority)->expiry())},
                         {"credentials", flags.credentials_folder().string()}})
                << '\n';
  } else {
    context.out << fmt::format("authority {}, until {}\n", fingerprint,
                               tls::utc_text((*authority)->expiry()));
  }
  return kExitDone;
}

void print_certificate(Context& context, const PkiFlags& flags,
                       const tls::IssuedCertificate& certificate, const std::string& sentence) {
  if (flags.json) {
    context.out << dump({{"certificate", certificate_json(certificate)}}) << '\n';
  } else {
    context.out << sentence << '\n';
  }
}

Expected<tls::Identity> find_issued(const tls::Authority& authority, const PkiFlags& flags) {
  PARETO_ASSIGN(const tls::IssuedIndex index, authority.issued());
  PARETO_ASSIGN(const std::optional<tls::Role> role, flags.named_role());
  std::vector<tls::Identity> found;
  std::vector<std::string> names;
  for (const tls::IssuedCertificate& one : index.certificates) {
    names.push_back(one.identity.name);
    const tls::Identity wanted{flags.name, role.value_or(one.identity.role)};
    if (!tls::is_same_peer(one.identity, wanted)) continue;
    const bool known = std::ranges::any_of(
        found, [&](const tls::Identity& other) { return tls::is_same_peer(other, one.identity); });
    if (!known) found.push_back(one.identity);
  }
  if (found.empty()) {
    return fail(ErrorCode::kNotFound,
                "nobody called \"{}\" has a certificate{}: paretoctl pki list", flags.name,
                did_you_mean(flags.name, names));
  }
  if (found.size() > 1) {
    return fail(ErrorCode::kInvalidArgument, "{} and {} have certificates: name one by --role",
                to_string(found[0]), to_string(found[1]));
  }
  return found.front();
}

Expected<> spread_revoked(Context& context, const PkiFlags& flags,
                          const tls::Authority& authority) {
  PARETO_ASSIGN(const bool own, enrolment::update_revoked(authority, flags.credentials_folder()));
  const std::string list = authority.revoked_file().string();
  context.err << fmt::format(
      "{}The devices believe the old certificate until they get the new list. Copy it to each;\n"
      "a daemon reads it within a minute:\n"
      "  scp {} root@DEVICE:/etc/pareto-edge/credentials/revoked.pem\n",
      own ? "This machine has the new list of revoked certificates.\n" : "", list);
  return {};
}

Expected<int> revoke_certificates(Context& context, const PkiFlags& flags) {
  PARETO_ASSIGN(const auto authority, tls::Authority::open(flags.authority_folder()));
  PARETO_ASSIGN(const tls::Identity identity, find_issued(*authority, flags));
  PARETO_ASSIGN(const auto taken, authority->revoke(identity));
  for (const tls::IssuedCertificate& one : taken) {
    print_certificate(context, flags, one,
                      fmt::format("revoked {}, serial {}", to_string(identity), one.serial));
  }
  PARETO_TRY(spread_revoked(context, flags, *authority));
  return kExitDone;
}

Expected<int> list_certificates(Context& context, const PkiFlags& flags) {
  PARETO_ASSIGN(const auto authority, tls::Authority::open(flags.authority_folder()));
  PARETO_ASSIGN(const tls::IssuedIndex index, authority->issued());
  const std::chrono::sys_seconds now = tls::system_wall_clock()();
  report::TextTable table({{"name"},
                           {"role"},
                           {"state"},
                           {"until"},
                           {"from", report::Align::kLeft, 1},
                           {"serial", report::Align::kLeft, 2}});
  auto rows = PkiJson::array();
  for (const tls::IssuedCertificate& one : index.certificates) {
    const tls::IssuedState state = tls::state_of(index, one, now);
    table.add({one.identity.name, std::string(to_string(one.identity.role)),
               std::string(to_string(state)), tls::utc_text(one.until), tls::utc_text(one.from),
               one.serial},
              style_of_state(state, one.until, now));
    PkiJson row = certificate_json(one);
    row["state"] = std::string(to_string(state));
    rows.push_back(std::move(row));
  }
  const std::string fingerprint = tls::fingerprint_text(authority->fingerprint());
  if (flags.json) {
    context.out << dump({{"authority", authority->folder().string()},
                         {"fingerprint", fingerprint},
                         {"until", tls::utc_text(authority->expiry())},
                         {"certificates", std::move(rows)}},
                        2)
                << '\n';
    return kExitDone;
  }
  context.out << fmt::format("authority {}, until {}\n", fingerprint,
                             tls::utc_text(authority->expiry()))
              << table.render(style_of(context));
  return kExitDone;
}

}  // namespace pareto::client::commands
