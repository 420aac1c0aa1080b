#include "coordinator/cluster/fault_wire.h"

#include <nlohmann/json.hpp>

#include "core/base/json_integer.h"
#include "core/base/json_parse.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"

namespace pareto::cluster {
namespace {

using FaultJson = nlohmann::ordered_json;

Expected<netem::Fault> fault_of(const FaultJson& json) {
  netem::Fault fault;
  PARETO_ASSIGN(fault.kind, netem::parse_fault_kind(json.at("fault").get<std::string>()));
  PARETO_ASSIGN(fault.direction,
                netem::parse_fault_direction(json.at("direction").get<std::string>()));
  json.at("place").get_to(fault.place);
  json.at("share").get_to(fault.share);
  fault.packets = json_integer_at<std::uint64_t>(json, "packets");
  fault.delay = Nanoseconds(json_integer_at<std::int64_t>(json, "delay_ns"));
  fault.seed = json_integer_at<std::uint64_t>(json, "seed");
  return fault;
}

}  // namespace

std::string to_line(const FaultRequest& request) {
  if (!request.begins) return dump(FaultJson{{"do", "end"}, {"number", request.number}});
  const netem::Fault& fault = *request.begins;
  return dump(FaultJson{{"do", "begin"},
                        {"number", request.number},
                        {"fault", netem::to_string(fault.kind)},
                        {"place", fault.place},
                        {"direction", netem::to_string(fault.direction)},
                        {"share", fault.share},
                        {"packets", fault.packets},
                        {"delay_ns", fault.delay.count()},
                        {"seed", fault.seed}});
}

Expected<FaultRequest> parse_fault_request(const std::string& line) {
  try {
    const FaultJson json = parse_json<FaultJson>(line);
    FaultRequest request;
    request.number = json_integer_at<std::uint64_t>(json, "number");
    const auto action = json.at("do").get<std::string>();
    if (action == "end") return request;
    if (action != "begin") return fail(ErrorCode::kCorrupt, "\"do\" is neither begin nor end");
    PARETO_ASSIGN(request.begins, fault_of(json));
    return request;
  } catch (const FaultJson::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}", json_reason(error));
  }
}

std::string answer_line(const Expected<std::string>& done) {
  if (done) return dump(FaultJson{{"done", *done}});
  return dump(FaultJson{{"error", done.error().message}, {"code", to_string(done.error().code)}});
}

Expected<std::string> parse_fault_answer(const std::string& line) {
  try {
    const FaultJson json = parse_json<FaultJson>(line);
    if (json.contains("done")) return json["done"].get<std::string>();
    return fail(error_code_from_string(json.at("code").get<std::string>()), "{}",
                json.at("error").get<std::string>());
  } catch (const FaultJson::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}", json_reason(error));
  }
}

}  // namespace pareto::cluster
