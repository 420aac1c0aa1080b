#include "tests/support/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string_view>

namespace pareto::test {
namespace {

using nlohmann::json;

const std::set<std::string> kNotes{"$schema", "$id", "$defs", "title", "description"};

bool is_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

const std::regex& pattern(const std::string& text) {
  static std::map<std::string, std::regex> compiled;
  return compiled.try_emplace(text, text).first->second;
}

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  std::vector<std::string> check(const json& schema, const json& value, const std::string& where) {
    std::vector<std::string> found;
    const auto add = [&](const std::string& problem) {
      found.push_back((where.empty() ? "/" : where) + ": " + problem);
    };
    const auto merge = [&](std::vector<std::string> more) {
      found.insert(found.end(), more.begin(), more.end());
    };
    for (const auto& [keyword, rule] : schema.items()) {
      if (kNotes.contains(keyword) || keyword == "then" || keyword == "else") continue;
      if (keyword == "$ref") {
        merge(check_reference(rule.get<std::string>(), value, where));
      } else if (keyword == "type") {
        const json types = rule.is_array() ? rule : json::array({rule});
        if (std::none_of(types.begin(), types.end(),
                         [&](const json& type) { return is_type(value, type); })) {
          add(fmt::format("is no {}: {}", rule.dump(), value.dump().substr(0, 60)));
        }
      } else if (keyword == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
          add(fmt::format("{} is none of {}", value.dump(), rule.dump()));
        }
      } else if (keyword == "const") {
        if (value != rule) add(fmt::format("is not {}", rule.dump()));
      } else if (keyword == "allOf") {
        for (const json& part : rule) merge(check(part, value, where));
      } else if (keyword == "anyOf") {
        if (std::none_of(rule.begin(), rule.end(),
                         [&](const json& part) { return check(part, value, where).empty(); })) {
          add("fits none of anyOf");
        }
      } else if (keyword == "if") {
        const char* branch = check(rule, value, where).empty() ? "then" : "else";
        if (schema.contains(branch)) merge(check(schema[branch], value, where));
      } else if (value.is_object() || is_object_rule(keyword)) {
        merge(check_object(schema, keyword, rule, value, where));
      } else if (value.is_array() || is_array_rule(keyword)) {
        merge(check_array(keyword, rule, value, where));
      } else {
        check_scalar(keyword, rule, value, add);
      }
    }
    return found;
  }

 private:
  std::vector<std::string> check_reference(const std::string& to, const json& value,
                                           const std::string& where) {
    constexpr std::string_view kHere = "#/$defs/";
    if (to.starts_with(kHere)) {
      return check(root_.at("$defs").at(to.substr(kHere.size())), value, where);
    }
    const json& other = golden_schema(to.substr(0, to.find(".schema.json")));
    return Validator(other).check(other, value, where);
  }

  static bool is_object_rule(const std::string& keyword) {
    return keyword == "properties" || keyword == "required" || keyword == "additionalProperties";
  }
  static bool is_array_rule(const std::string& keyword) {
    return keyword == "items" || keyword == "minItems" || keyword == "maxItems";
  }

  std::vector<std::string> check_object(const json& schema, const std::string& keyword,
                                        const json& rule, const json& value,
                                        const std::string& where) {
    std::vector<std::string> found;
    if (!value.is_object()) return found;
    const auto merge = [&](std::vector<std::string> more) {
      found.insert(found.end(), more.begin(), more.end());
    };
    if (keyword == "required") {
      for (const json& name : rule) {
        if (!value.contains(name)) found.push_back(where + ": lacks " + name.dump());
      }
    } else if (keyword == "properties") {
      for (const auto& [name, part] : rule.items()) {
        if (value.contains(name)) merge(check(part, value[name], where + "/" + name));
      }
    } else if (keyword == "additionalProperties") {
      for (const auto& [name, part] : value.items()) {
        if (schema.contains("properties") && schema["properties"].contains(name)) continue;
        if (rule == json(false)) {
          found.push_back(where + ": has unknown \"" + name + "\"");
        } else if (rule.is_object()) {
          merge(check(rule, part, where + "/" + name));
        }
      }
    } else {
      found.push_back(where + ": unknown keyword " + keyword);
    }
    return found;
  }

  std::vector<std::string> check_array(const std::string& keyword, const json& rule,
                                       const json& value, const std::string& where) {
    std::vector<std::string> found;
    if (!value.is_array()) return found;
    if (keyword == "items") {
      for (std::size_t i = 0; i < value.size(); ++i) {
        const auto more = check(rule, value[i], where + "/" + std::to_string(i));
        found.insert(found.end(), more.begin(), more.end());
      }
    } else if (keyword == "minItems") {
      if (value.size() < rule.get<std::size_t>()) found.push_back(where + ": too few items");
    } else if (keyword == "maxItems") {
      if (value.size() > rule.get<std::size_t>()) found.push_back(where + ": too many items");
    } else {
      found.push_back(where + ": unknown keyword " + keyword);
    }
    return found;
  }

  template <typename Add>
  static void check_scalar(const std::string& keyword, const json& rule, const json& value,
                           Add add) {
    if (keyword == "minimum") {
      if (value.is_number() && value < rule) {
        add(fmt::format("{} is less than {}", value.dump(), rule.dump()));
      }
    } else if (keyword == "maximum") {
      if (value.is_number() && value > rule) {
        add(fmt::format("{} is more than {}", value.dump(), rule.dump()));
      }
    } else if (keyword == "minLength") {
      if (value.is_string() && value.get<std::string>().size() < rule.get<std::size_t>()) {
        add("is too short");
      }
    } else if (keyword == "pattern") {
      if (value.is_string() &&
          !std::regex_search(value.get<std::string>(), pattern(rule.get<std::string>()))) {
        add(fmt::format("{} does not match {}", value.dump(), rule.dump()));
      }
    } else {
      add("unknown keyword " + keyword);
    }
  }

  const json& root_;
};

}  // namespace

const json& golden_schema(const std::string& name) {
  static std::map<std::string, json> read;
  const auto [at, first] = read.try_emplace(name);
  if (first) {
    std::ifstream file(std::filesystem::path(PARETO_SOURCE_DIR) / "tests/golden" /
                       (name + ".schema.json"));
    at->second = json::parse(file);
  }
  return at->second;
}

std::vector<std::string> violations(const json& schema, const json& document) {
  return Validator(schema).check(schema, document, "");
}

}  // namespace pareto::test
