#include "coordinator/results/split_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "coordinator/results/whole_numbers.h"
#include "core/tensor/dtype.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

Json shown_boundary(const std::vector<TensorSpec>& boundary, std::int64_t batch) {
  Json json = Json::array();
  for (const TensorSpec& tensor : boundary) {
    json.push_back({{"dtype", to_string(tensor.dtype)}, {"shape", tensor.shape(batch)}});
  }
  return json;
}

Json kept_boundary(const std::vector<TensorSpec>& boundary) {
  Json json = Json::array();
  for (const TensorSpec& tensor : boundary) {
    Json dims = Json::array();
    for (const SymbolicDim& dim : tensor.dims) {
      dims.push_back(Json::array({dim.constant, dim.per_sample}));
    }
    json.push_back({{"dtype", to_string(tensor.dtype)}, {"dims", std::move(dims)}});
  }
  return json;
}

Expected<std::vector<TensorSpec>> boundary_from(const Json& json) {
  std::vector<TensorSpec> boundary;
  for (const Json& item : json) {
    TensorSpec& tensor = boundary.emplace_back();
    const auto name = item.at("dtype").get<std::string>();
    const auto dtype = dtype_from_string(name);
    if (!dtype) return fail(ErrorCode::kCorrupt, "no dtype \"{}\"", name);
    tensor.dtype = *dtype;
    for (const Json& dim : item.at("dims")) {
      tensor.dims.push_back(
          {whole_number<std::int64_t>(dim.at(0)), whole_number<std::int64_t>(dim.at(1))});
    }
  }
  return boundary;
}

Expected<CutRecord> cut_from(const Json& json) {
  CutRecord cut;
  json.at("name").get_to(cut.name);
  read_whole(json, "position", cut.position);
  PARETO_ASSIGN(cut.boundary, boundary_from(json.at("boundary")));
  read_whole(json, "boundary_bytes", cut.boundary_bytes);
  return cut;
}

}  // namespace

Json split_json(const SplitRecord& split, std::int64_t batch) {
  Json cuts = Json::array();
  for (const CutRecord& cut : split.cuts) {
    cuts.push_back({{"name", cut.name},
                    {"position", cut.position},
                    {"boundary", shown_boundary(cut.boundary, batch)},
                    {"boundary_bytes", cut.boundary_bytes}});
  }
  return {{"name", split.name},
          {"position", split.position},
          {"boundary", shown_boundary(split.boundary, batch)},
          {"boundary_bytes", split.boundary_bytes},
          {"cuts", std::move(cuts)}};
}

Json kept_cuts(const SplitRecord& split) {
  Json cuts = Json::array();
  for (const CutRecord& cut : split.cuts) {
    cuts.push_back({{"name", cut.name},
                    {"position", cut.position},
                    {"boundary", kept_boundary(cut.boundary)},
                    {"boundary_bytes", cut.boundary_bytes}});
  }
  return cuts;
}

Expected<> read_cuts(const Json& details, const plan::Plan& plan, SplitRecord& split) {
  split.boundary.clear();
  split.cuts.clear();
  if (!details.contains("cuts")) {
    PARETO_ASSIGN(split.boundary, boundary_from(details.at("boundary")));
    if (plan.splits.size() == 1) {
      split.cuts.push_back({split.name, split.position, split.boundary, split.boundary_bytes});
    }
    return {};
  }
  for (const Json& json : details.at("cuts")) {
    PARETO_ASSIGN(CutRecord cut, cut_from(json));
    split.boundary.insert(split.boundary.end(), cut.boundary.begin(), cut.boundary.end());
    split.cuts.push_back(std::move(cut));
  }
  if (split.cuts.size() != plan.splits.size()) {
    return fail(ErrorCode::kCorrupt, "boundaries of {} cuts, its plan has {}", split.cuts.size(),
                plan.splits.size());
  }
  return {};
}

}  // namespace pareto::results
