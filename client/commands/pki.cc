// pki: the authority by which devices, coordinators and observers know each other.
#include <CLI/CLI.hpp>

#include "client/commands/commands.h"
#include "client/commands/pki_flags.h"

namespace pareto::client::commands {
namespace {

class PkiCommand final : public Command {
 public:
  std::string_view name() const override { return "pki"; }
  std::string_view summary() const override {
    return "issue, renew, revoke and list the certificates of devices";
  }
  std::string_view examples() const override {
    return "  paretoctl pki issue pi-1                  print the command to run on pi-1, and "
           "wait\n"
           "  paretoctl pki init                        make authority and own credentials first\n"
           "  paretoctl pki list\n"
           "  paretoctl pki renew pi-1                  a new key and certificate for pi-1\n"
           "  paretoctl pki renew                       and for this machine\n"
           "  paretoctl pki issue pi-1 --replace        pi-1 was lost: take its certificate back\n"
           "  paretoctl pki revoke pi-1\n"
           "  paretoctl pki issue grafana --role observer --to grafana/   a key made here\n"
           "  paretoctl pki issue pi-2 --request pi-2.csr --to pi-2/      a device without a way "
           "here\n"
           "\n"
           "Roles: a device serves and opens links to other devices of its pipeline. A coordinator "
           "may do\neverything. An observer may read what devices say of themselves.\n"
           "Files and protocol: core/tls/FORMAT.md.\n";
  }
  void add_options(CLI::App& app) override { flags_.add_to(app); }

  Expected<int> run(Context& context) override {
    PARETO_TRY(flags_.check());
    if (flags_.action == "init") return init_pki(context, flags_);
    if (flags_.action == "issue") return issue_certificate(context, flags_);
    if (flags_.action == "renew") return renew_certificate(context, flags_);
    if (flags_.action == "revoke") return revoke_certificates(context, flags_);
    return list_certificates(context, flags_);
  }

 private:
  PkiFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_pki_command() { return std::make_unique<PkiCommand>(); }

}  // namespace pareto::client::commands
