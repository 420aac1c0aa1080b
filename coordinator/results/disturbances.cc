#include "coordinator/results/disturbances.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/results/whole_numbers.h"
#include "core/base/counted.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

std::string load_words(const ForeignLoad& load, std::string_view use) {
  return fmt::format("load {:.1f} on {} core{}, others {} {:.0f} %", load.load, load.cores,
                     load.cores == 1 ? "" : "s", use, 100 * load.share);
}

std::string company_words(const Company& company, std::string_view run) {
  return fmt::format(
      "{} {} {} here",
      company.coordinators == 1 ? "another coordinator"
                                : fmt::format("{} other coordinators", company.coordinators),
      run, company.pipelines == 1 ? "a pipeline" : fmt::format("{} pipelines", company.pipelines));
}

}  // namespace

std::string load_text(const ForeignLoad& load) { return load_words(load, "use"); }

std::string company_text(const Company& company) {
  return company_words(company, company.coordinators == 1 ? "runs" : "run");
}

std::vector<ForeignLoad> foreign_load(const RunRecord& run) {
  std::vector<ForeignLoad> all;
  for (const PassRecord& pass : run.passes) {
    for (const ForeignLoad& one : pass.others) {
      const auto known = std::ranges::find(all, one.machine, &ForeignLoad::machine);
      if (known == all.end()) {
        all.push_back(one);
        continue;
      }
      const double seconds = known->seconds + one.seconds;
      if (seconds > 0) {
        known->share = (known->share * known->seconds + one.share * one.seconds) / seconds;
      }
      known->seconds = seconds;
      known->load = std::max(known->load, one.load);
    }
  }
  return all;
}

std::vector<Company> company(const RunRecord& run) {
  std::vector<Company> all;
  for (const PassRecord& pass : run.passes) {
    for (const Company& one : pass.company) {
      const auto known = std::ranges::find(all, one.device, &Company::device);
      if (known == all.end()) {
        all.push_back(one);
        continue;
      }
      known->coordinators = std::max(known->coordinators, one.coordinators);
      known->pipelines = std::max(known->pipelines, one.pipelines);
    }
  }
  return all;
}

std::vector<Disturbance> disturbances(const std::vector<ForeignLoad>& loads) {
  std::vector<Disturbance> all;
  for (const ForeignLoad& load : loads) {
    if (load.share < kBusyShare) continue;
    all.push_back(
        {Disturbance::Kind::kBusy, load.machine, load_words(load, "used") + ": figures vary"});
  }
  return all;
}

std::vector<Disturbance> disturbances(const RunRecord& run) {
  std::vector<Disturbance> all = disturbances(foreign_load(run));
  for (const Company& one : company(run)) {
    const std::size_t passes =
        static_cast<std::size_t>(std::ranges::count_if(run.passes, [&](const PassRecord& pass) {
          return std::ranges::count(pass.company, one.device, &Company::device) > 0;
        }));
    all.push_back({Disturbance::Kind::kCompany, one.device,
                   fmt::format("{}, in {} of {}: figures vary", company_words(one, "ran"), passes,
                               counted(run.passes.size(), "round"))});
  }
  return all;
}

Json to_json(const std::vector<ForeignLoad>& loads) {
  Json json = Json::array();
  for (const ForeignLoad& load : loads) {
    json.push_back({{"machine", load.machine},
                    {"cores", load.cores},
                    {"others_share", load.share},
                    {"load", load.load},
                    {"seconds", load.seconds}});
  }
  return json;
}

Json to_json(const std::vector<Company>& company) {
  Json json = Json::array();
  for (const Company& one : company) {
    json.push_back(
        {{"device", one.device}, {"coordinators", one.coordinators}, {"pipelines", one.pipelines}});
  }
  return json;
}

Json to_json(const std::vector<Disturbance>& disturbances) {
  Json json = Json::array();
  for (const Disturbance& one : disturbances) {
    json.push_back({{"kind", one.kind == Disturbance::Kind::kBusy ? "busy" : "company"},
                    {"where", one.where},
                    {"text", one.text}});
  }
  return json;
}

std::vector<ForeignLoad> foreign_load_from(const Json& json) {
  std::vector<ForeignLoad> loads;
  for (const Json& one : json) {
    loads.push_back({one.at("machine").get<std::string>(), whole_number<int>(one.at("cores")),
                     one.at("others_share").get<double>(), one.at("load").get<double>(),
                     one.at("seconds").get<double>()});
  }
  return loads;
}

std::vector<Company> company_from(const Json& json) {
  std::vector<Company> company;
  for (const Json& one : json) {
    company.push_back({one.at("device").get<std::string>(),
                       whole_number<int>(one.at("coordinators")),
                       whole_number<int>(one.at("pipelines"))});
  }
  return company;
}

}  // namespace pareto::results
