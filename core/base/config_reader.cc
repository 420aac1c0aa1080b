#include "core/base/config_reader.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <set>

#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto {
namespace config_detail {

/// One mapping of the file, with the keys that were asked for.
struct Node {
  YAML::Node yaml;
  std::string path;  ///< "store." before its keys, for people
  std::set<std::string> known;
  bool all_known = false;
};

struct Document {
  std::string name;
  YAML::Node root;
  std::vector<std::shared_ptr<Node>> nodes;  ///< every mapping handed out, in that order
  std::map<std::string, std::shared_ptr<Node>> by_path;
  std::vector<std::string> problems;

  std::string where(const YAML::Node& node) const {
    const YAML::Mark mark = node.Mark();
    return mark.is_null() ? name : fmt::format("{}:{}", name, mark.line + 1);
  }
  std::shared_ptr<Node> add(const YAML::Node& yaml, std::string path) {
    // A section read twice is one section: what either reader asked for is known.
    std::shared_ptr<Node>& node = by_path[path];
    if (node == nullptr) {
      node = std::make_shared<Node>(Node{yaml, std::move(path), {}, false});
      nodes.push_back(node);
    }
    return node;
  }
};

}  // namespace config_detail

using config_detail::Document;
using config_detail::Node;

namespace {

constexpr std::uint64_t kMaxConfigBytes = 1 << 20;

/// Returns the value at a key, without creating it (YAML::Node::operator[] on a non-const node
/// would).
YAML::Node value_at(const Node& node, const std::string& key) {
  const YAML::Node& yaml = node.yaml;
  if (!yaml.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  const YAML::Node value = yaml[key];
  return value;
}

bool present(const YAML::Node& value) { return value.IsDefined() && !value.IsNull(); }

}  // namespace

ConfigSection::ConfigSection(std::shared_ptr<Document> document, std::shared_ptr<Node> node)
    : document_(std::move(document)), node_(std::move(node)) {
  if (!node_->yaml.IsMap() && present(node_->yaml)) {
    // The path of a section ends with a dot, as that of the document is empty.
    std::string name = node_->path;
    if (name.ends_with('.')) name.pop_back();
    document_->problems.push_back(fmt::format("{}: {} should be a mapping of keys to values",
                                              document_->where(node_->yaml),
                                              name.empty() ? "the file" : name));
  }
}

template <typename T>
void ConfigSection::read(const std::string& key, T& target, const char* wanted) {
  node_->known.insert(key);
  const YAML::Node value = value_at(*node_, key);
  if (!present(value)) return;
  try {
    target = value.as<T>();
  } catch (const YAML::Exception&) {
    problem(key, fmt::format("should be {}", wanted));
  }
}

void ConfigSection::optional(const std::string& key, std::string& target) {
  read(key, target, "a text");
}
void ConfigSection::optional(const std::string& key, bool& target) {
  read(key, target, "true or false");
}
void ConfigSection::optional(const std::string& key, int& target) {
  read(key, target, "a whole number");
}
void ConfigSection::optional(const std::string& key, double& target) {
  read(key, target, "a number");
}
void ConfigSection::optional(const std::string& key, std::vector<std::string>& target) {
  read(key, target, "a list of texts");
}

template <typename T, typename Parse>
void ConfigSection::read_quantity(const std::string& key, T& target, Parse parse) {
  std::string text;
  optional(key, text);
  if (text.empty()) return;
  if (auto quantity = parse(text)) {
    target = *quantity;
  } else {
    problem(key, quantity.error().message);
  }
}

void ConfigSection::optional_bytes(const std::string& key, std::uint64_t& target) {
  read_quantity(key, target, parse_bytes);
}

void ConfigSection::optional_duration(const std::string& key, std::chrono::nanoseconds& target) {
  read_quantity(key, target, parse_duration);
}

void ConfigSection::optional_share(const std::string& key, double& target) {
  read_quantity(key, target, parse_share);
}

void ConfigSection::optional_percentage(const std::string& key, double& target) {
  read_quantity(key, target, parse_percentage);
}

void ConfigSection::optional_rate(const std::string& key, std::uint64_t& target) {
  read_quantity(key, target, parse_rate);
}

void ConfigSection::optional_power(const std::string& key, std::int64_t& target) {
  read_quantity(key, target, parse_power);
}

void ConfigSection::required(const std::string& key, std::string& target) {
  optional(key, target);
  if (!has(key)) {
    document_->problems.push_back(
        fmt::format("{}: the key \"{}{}\" is missing", where(), node_->path, key));
  }
}

bool ConfigSection::has(const std::string& key) const { return present(value_at(*node_, key)); }

bool ConfigSection::has_empty_list(const std::string& key) const {
  const YAML::Node value = value_at(*node_, key);
  return value.IsDefined() && value.IsSequence() && value.size() == 0;
}

std::optional<ConfigSection> ConfigSection::section(const std::string& key) {
  node_->known.insert(key);
  const YAML::Node value = value_at(*node_, key);
  if (!present(value)) return std::nullopt;
  return ConfigSection(document_, document_->add(value, node_->path + key + "."));
}

std::vector<ConfigSection> ConfigSection::sections(const std::string& key) {
  node_->known.insert(key);
  const YAML::Node value = value_at(*node_, key);
  std::vector<ConfigSection> list;
  if (!present(value)) return list;
  if (!value.IsSequence()) {
    problem(key, "should be a list");
    return list;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    list.push_back(ConfigSection(
        document_, document_->add(value[i], fmt::format("{}{}[{}].", node_->path, key, i))));
  }
  return list;
}

std::vector<std::pair<std::string, std::string>> ConfigSection::entries() {
  node_->all_known = true;
  std::vector<std::pair<std::string, std::string>> list;
  if (!node_->yaml.IsMap()) return list;
  for (const auto& entry : node_->yaml) {
    if (entry.second.IsScalar()) {
      list.emplace_back(entry.first.Scalar(), entry.second.Scalar());
    } else {
      problem(entry.first.Scalar(), "should be a text");
    }
  }
  return list;
}

std::string ConfigSection::where() const { return document_->where(node_->yaml); }

std::string ConfigSection::where(const std::string& key) const {
  const YAML::Node value = value_at(*node_, key);
  return value.IsDefined() ? document_->where(value) : where();
}

void ConfigSection::problem(const std::string& key, const std::string& sentence) {
  document_->problems.push_back(
      fmt::format("{}: \"{}{}\": {}", where(key), node_->path, key, sentence));
}

ConfigReader::ConfigReader(std::shared_ptr<Document> document) : document_(std::move(document)) {}

Expected<ConfigReader> ConfigReader::from_file(const std::filesystem::path& path) {
  PARETO_ASSIGN(const std::string text, read_file(path, kMaxConfigBytes));
  return from_text(text, path.string());
}

Expected<ConfigReader> ConfigReader::from_text(const std::string& text, const std::string& name) {
  try {
    auto document = std::make_shared<Document>();
    document->name = name;
    document->root = YAML::Load(text);
    return ConfigReader(std::move(document));
  } catch (const YAML::Exception& error) {
    // It says so of what is nested too deeply.
    const bool deep = error.msg == YAML::ErrorMsg::BAD_FILE;
    return fail(ErrorCode::kInvalidArgument, "{}:{}:{}: {}", name, error.mark.line + 1,
                error.mark.column + 1,
                deep ? "lists or mappings are nested too deeply" : error.msg);
  }
}

ConfigSection ConfigReader::root() {
  return ConfigSection(document_, document_->add(document_->root, ""));
}

Expected<> ConfigReader::finish() {
  std::vector<std::string> problems = document_->problems;
  for (const auto& node : document_->nodes) {
    if (!node->yaml.IsMap()) continue;
    const std::vector<std::string> known(node->known.begin(), node->known.end());
    std::set<std::string> seen;
    for (const auto& entry : node->yaml) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
      if (!seen.insert(key).second) {
        problems.push_back(fmt::format("{}: \"{}{}\" stands here again",
                                       document_->where(entry.first), node->path, key));
      }
      if (node->all_known || node->known.contains(key)) continue;
      problems.push_back(fmt::format("{}: unknown key \"{}{}\"{}", document_->where(entry.first),
                                     node->path, key, did_you_mean(key, known)));
    }
  }
  if (problems.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "{}", join(problems, "\n"));
}

}  // namespace pareto
