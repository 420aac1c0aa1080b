#include "coordinator/load/history.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/file.h"
#include "core/base/json_parse.h"

namespace pareto::load {
namespace {

using Json = nlohmann::json;

/// A log of more requests than this is not one of a stream.
constexpr std::uint64_t kMostRequests = std::uint64_t{1} << 28;
constexpr std::uint64_t kMostOutputBytes = std::uint64_t{1} << 32;

/// Returns the member of a document if it has that type.
const Json* member(const Json& document, const char* name, Json::value_t type) {
  const auto found = document.find(name);
  return found != document.end() && found->type() == type ? &*found : nullptr;
}

/// Returns why the files do not hold the same bytes; "" if they do.
std::string difference(const std::vector<std::string>& files,
                       const std::vector<std::string>& right) {
  if (files.size() != right.size()) {
    return fmt::format("{} outputs, {} are right", files.size(), right.size());
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto one = read_file(files[i], kMostOutputBytes);
    if (!one) return one.error().message;
    const auto other = read_file(right[i], kMostOutputBytes);
    if (!other) return other.error().message;
    if (*one != *other) return fmt::format("{} is not {}", files[i], right[i]);
  }
  return "";
}

std::string text_of(const Json& document, const char* name) {
  const Json* const text = member(document, name, Json::value_t::string);
  return text == nullptr ? std::string() : text->get<std::string>();
}

/// Returns the number under "term"; 0: there is none.
std::uint64_t term_of(const Json& document) {
  const Json* const term = member(document, "term", Json::value_t::number_unsigned);
  return term == nullptr ? 0 : term->get<std::uint64_t>();
}

}  // namespace

Expected<std::optional<HistoryLine>> HistoryReader::take(std::string_view line) {
  ++number_;
  if (line.empty()) return std::nullopt;
  auto read = with_context(parse_history_line(line), "{}:{}", name_, number_);
  const bool begins = read && read->begins;
  if (cut_ && !begins) return tl::unexpected(*std::exchange(cut_, std::nullopt));
  if (cut_) ++cut_lines_;
  cut_.reset();
  if (!read) {
    // Nothing may follow it but a term.
    cut_ = std::move(read).error();
    return std::nullopt;
  }
  if (begins ? read->begins->term <= term_ : read->term < term_) {
    ++void_lines_;
    return std::nullopt;
  }
  if (begins) {
    term_ = read->begins->term;
    ++terms_;
  }
  any_ = true;
  ended_ = read->ends;
  return *std::move(read);
}

Expected<> HistoryReader::finish() const {
  if (cut_ && !any_) return tl::unexpected(*cut_);
  return {};
}

Expected<HistoryLine> parse_history_line(std::string_view line) {
  const Json document = parse_json_or_discard<Json>(line);
  if (!document.is_object()) return fail(ErrorCode::kCorrupt, "it is no JSON object");
  HistoryLine read;
  read.term = term_of(document);
  if (document.contains("lease")) {
    read.begins = TermLine{read.term, text_of(document, "lease"), text_of(document, "plan"),
                           text_of(document, "by"), text_of(document, "program")};
    if (read.term > 0 && !read.begins->lease.empty()) return read;
    return fail(ErrorCode::kCorrupt,
                "it begins a term and has no \"term\" from 1, or no \"lease\"");
  }
  if (document.value("ends", Json(false)) == Json(true)) {
    read.ends = true;
    return read;
  }
  const Json* const number = member(document, "number", Json::value_t::number_unsigned);
  const Json* const request = member(document, "request", Json::value_t::string);
  if (number == nullptr || request == nullptr) {
    return fail(ErrorCode::kCorrupt,
                "it has no \"number\" and \"request\", as deploy --json writes");
  }
  read.number = number->get<std::uint64_t>();
  read.request = request->get<std::string>();
  if (read.number >= kMostRequests) {
    return fail(ErrorCode::kCorrupt, "number {}: at most {}", read.number, kMostRequests - 1);
  }
  const Json* const error = member(document, "error", Json::value_t::string);
  const bool answered = document.contains("latency_ms");
  if (answered == (error != nullptr)) {
    return fail(ErrorCode::kCorrupt, "it has to have either \"latency_ms\" or \"error\"");
  }
  if (error != nullptr) read.error = error->get<std::string>();
  read.sent = document.value("sent", Json(true)) != Json(false);
  const Json* const outputs = member(document, "output", Json::value_t::array);
  if (outputs == nullptr) return read;
  for (const Json& file : *outputs) {
    if (!file.is_string()) return fail(ErrorCode::kCorrupt, "\"output\" lists names of files");
    read.outputs.push_back(file.get<std::string>());
  }
  return read;
}

void HistoryCheck::find(std::string sentence) {
  if (verdict_.findings.size() < kMostFindings) verdict_.findings.push_back(std::move(sentence));
}

void HistoryCheck::expect(const HistoryLine& right) {
  if (!right.error && !right.begins && !right.ends)
    right_.try_emplace(right.request, right.outputs);
}

void HistoryCheck::add(const HistoryLine& line) {
  if (line.begins || line.ends) return;
  if (line.number >= seen_.size()) seen_.resize(line.number + 1);
  if (seen_[line.number]) {
    ++verdict_.duplicated;
    find(fmt::format("request {} ({}) has another line", line.number, line.request));
  } else if (largest_ && line.number < *largest_) {
    ++verdict_.reordered;
    find(fmt::format("request {} ({}) comes behind request {}", line.number, line.request,
                     *largest_));
  }
  seen_[line.number] = true;
  largest_ = std::max(largest_.value_or(0), line.number);
  if (line.error) {
    ++(line.sent ? verdict_.failed : verdict_.not_sent);
    if (line.error->empty()) {
      find(fmt::format("request {} ({}) failed without a reason", line.number, line.request));
    }
    return;
  }
  ++verdict_.answered;
  compare(line);
}

void HistoryCheck::compare(const HistoryLine& line) {
  const auto right = right_.find(line.request);
  if (right == right_.end()) return;
  ++verdict_.compared;
  const std::string why = difference(line.outputs, right->second);
  if (why.empty()) return;
  ++verdict_.wrong;
  find(fmt::format("request {} ({}): {}", line.number, line.request, why));
}

HistoryVerdict HistoryCheck::finish() {
  for (std::size_t number = 0; number < seen_.size(); ++number) {
    if (seen_[number]) continue;
    // There may be millions of them.
    if (++verdict_.lost <= kMostFindings) find(fmt::format("request {} has no line", number));
  }
  return verdict_;
}

}  // namespace pareto::load
