#include <nlohmann/json.hpp>

#include "client/report/writers.h"
#include "coordinator/results/record_json.h"

namespace pareto::report {
namespace {

class JsonWriter final : public ReportWriter {
 public:
  std::string_view name() const override { return "json"; }
  std::string_view summary() const override { return "one document, for programs"; }
  Expected<std::string> write(const results::RunRecord& run,
                              const ReportStyle& /*style*/) const override {
    return dump(to_json(run), 1) + "\n";
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_json_writer() { return std::make_unique<JsonWriter>(); }

}  // namespace pareto::report
