#include <algorithm>
#include <set>

#include "core/base/config_reader.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "runtime/schedules/program.h"

namespace pareto::schedules {
namespace {

constexpr std::size_t kMostTexts = 64;  ///< most patterns or tags of one list
constexpr std::size_t kMostTextBytes = 256;
constexpr int kMostSamples = 65'536;

/// Reads one file. Everything that is wrong is noted in it.
class ProgramReader {
 public:
  Expected<Program> read(ConfigReader& file) {
    ConfigSection root = file.root();
    std::vector<ConfigSection> workers = list(root, "workers", kMostProgramWorkers);
    for (ConfigSection& section : workers) read_worker_name(section);
    for (ConfigSection& section : list(root, "units", kMostUnitRules)) read_rule(section);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      read_tags(workers[i], "takes", program_.workers[i].takes);
    }
    if (auto split = root.section("split")) read_split(*split);
    for (ConfigSection& section : list(root, "order", kMostTexts)) read_order(section);
    root.optional_bytes("most_memory", program_.most_memory);
    if (root.has("most_memory") && program_.most_memory == 0) {
      root.problem("most_memory", "should be above 0: leave it out if any amount is fine");
    }
    PARETO_TRY(file.finish());
    return std::move(program_);
  }

 private:
  /// Returns the items of a list; none of them if there are too many.
  static std::vector<ConfigSection> list(ConfigSection& section, const char* key,
                                         std::size_t most) {
    std::vector<ConfigSection> items = section.sections(key);
    if (items.size() <= most) return items;
    section.problem(key, fmt::format("has {} entries; there may be {}", items.size(), most));
    return {};
  }

  static bool is_name(const std::string& text) {
    return !text.empty() && text.size() <= kMostTextBytes && is_printable(text);
  }

  static bool read_text(ConfigSection& section, const char* key, std::string& target) {
    section.optional(key, target);
    if (!section.has(key) || is_name(target)) return true;
    target.clear();
    section.problem(key, fmt::format("should be 1 to {} printable bytes", kMostTextBytes));
    return false;
  }

  static void read_texts(ConfigSection& section, const char* key,
                         std::vector<std::string>& target) {
    section.optional(key, target);
    if (section.has_empty_list(key)) {
      section.problem(key, "has nothing in it: leave it out, or name something");
    }
    if (target.size() <= kMostTexts && std::ranges::all_of(target, is_name)) return;
    target.clear();
    section.problem(key, fmt::format("should be at most {} texts, each of 1 to {} printable bytes",
                                     kMostTexts, kMostTextBytes));
  }

  /// Reads tags that a rule gives, or everybody knows.
  void read_tags(ConfigSection& section, const char* key, std::vector<std::string>& target) {
    read_texts(section, key, target);
    for (const std::string& tag : target) check_tag(section, key, tag);
  }

  void check_tag(ConfigSection& section, const char* key, const std::string& tag) {
    if (tags_.contains(tag)) return;
    const std::vector<std::string> known(tags_.begin(), tags_.end());
    section.problem(key,
                    fmt::format("no rule gives the tag \"{}\"{}", tag, did_you_mean(tag, known)));
  }

  void read_worker_name(ConfigSection& section) {
    std::string& name = program_.workers.emplace_back().name;
    section.required("name", name);
    if (!read_text(section, "name", name) || name.empty()) return;
    if (!workers_.insert(name).second) {
      section.problem("name", fmt::format("\"{}\" is the name of two workers", name));
    }
  }

  void read_rule(ConfigSection& section) {
    UnitRule& rule = program_.units.emplace_back();
    read_text(section, "name", rule.name);
    read_texts(section, "modules", rule.modules);
    read_texts(section, "except", rule.except);
    read_texts(section, "operators", rule.operators);
    read_texts(section, "sequence", rule.sequence);
    section.optional("join", rule.join);
    read_texts(section, "tags", rule.tags);
    read_text(section, "worker", rule.worker);
    if (!section.has("modules") && !section.has("operators") && !section.has("sequence")) {
      section.problem("modules", "is needed, or operators or sequence: what the rule marks");
    }
    if (section.has("sequence") && (section.has("operators") || rule.join)) {
      section.problem("sequence", "marks chains of operators: leave out operators and join");
    }
    if (!rule.worker.empty() && !workers_.contains(rule.worker)) {
      const std::vector<std::string> known(workers_.begin(), workers_.end());
      section.problem("worker", fmt::format("there is no worker \"{}\"{}", rule.worker,
                                            did_you_mean(rule.worker, known)));
    }
    if (rule.tags.empty()) rule.tags = {kOtherTag};
    tags_.insert(rule.tags.begin(), rule.tags.end());
  }

  static void read_count(ConfigSection& section, const char* key, int most, int& target) {
    section.optional(key, target);
    if (target >= 1 && target <= most) return;
    target = 1;
    section.problem(key, fmt::format("should be 1 to {}", most));
  }

  void read_split(ConfigSection& section) {
    read_count(section, "parts", kMostParts, program_.split.parts);
    read_count(section, "at_least", kMostSamples, program_.split.at_least);
    read_tags(section, "only", program_.split.only);
  }

  static bool read_word(ConfigSection& section, const char* key, const char* plain,
                        const char* reversed, bool& target) {
    std::string word;
    section.optional(key, word);
    if (!section.has(key)) return false;
    target = word == reversed;
    if (word != plain && !target) {
      section.problem(key, fmt::format("should be {} or {}", plain, reversed));
    }
    return true;
  }

  void read_order(ConfigSection& section) {
    OrderRule& rule = program_.order.emplace_back();
    int found = 0;
    if (read_text(section, "tag", rule.tag); section.has("tag")) {
      rule.by = OrderRule::By::kTag;
      if (!rule.tag.empty()) check_tag(section, "tag", rule.tag);
      ++found;
    }
    if (read_word(section, "part", "earlier", "later", rule.reversed)) {
      rule.by = OrderRule::By::kPart;
      ++found;
    }
    if (read_word(section, "path", "longest", "shortest", rule.reversed)) {
      rule.by = OrderRule::By::kPath;
      ++found;
    }
    if (found != 1) section.problem("tag", "is needed, or part or path: one of them");
  }

  Program program_;
  std::set<std::string> workers_;
  std::set<std::string> tags_{"compute", "memory", "network", kOtherTag};
};

}  // namespace

Expected<Program> program_from_yaml(const std::string& text, const std::string& file) {
  if (text.size() > kMostProgramBytes) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}; a program has at most {}", file,
                format_bytes(text.size()), format_bytes(kMostProgramBytes));
  }
  auto document = ConfigReader::from_text(text, file);
  if (document) return ProgramReader().read(*document);
  // In YAML a leading * refers to an anchor: what everybody meets who writes a first pattern.
  if (document.error().message.find("anchor is not defined") != std::string::npos) {
    document.error().message += ": write a pattern that begins with * in quotes";
  }
  return tl::unexpected(std::move(document).error());
}

}  // namespace pareto::schedules
