#include "partitioner/planning/search/ideals.h"

#include <algorithm>
#include <set>

namespace pareto::search {
namespace {

using Words = std::vector<std::uint64_t>;  ///< a set, 64 operators a word

constexpr std::size_t kStagesAnIdeal = 500;

bool contains(const Words& set, int index) {
  const auto bit = static_cast<std::size_t>(index);
  return ((set[bit / 64] >> (bit % 64)) & 1U) != 0;
}

void add(Words& set, int index) {
  const auto bit = static_cast<std::size_t>(index);
  set[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

bool contains_all(const Words& set, const Words& part) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if ((part[i] & ~set[i]) != 0) return false;
  }
  return true;
}

Expected<> check_flow(const DataFlow& flow) {
  for (const DataFlow::Value& value : flow.values) {
    if (value.producer < -1 || value.producer >= flow.operators || value.bytes < 0) {
      return fail(ErrorCode::kInvalidArgument, "a value of operator {} of {}", value.producer,
                  flow.operators);
    }
    for (const int reader : value.readers) {
      if (reader <= value.producer || reader >= flow.operators) {
        return fail(ErrorCode::kInvalidArgument, "operator {} reads what {} of {} makes", reader,
                    value.producer, flow.operators);
      }
    }
  }
  return {};
}

/// Returns for each operator the set of those it reads from.
std::vector<Words> read_sets(const DataFlow& flow, std::size_t words) {
  std::vector<Words> reads(static_cast<std::size_t>(flow.operators), Words(words, 0));
  for (const DataFlow::Value& value : flow.values) {
    if (value.producer < 0) continue;
    for (const int reader : value.readers) {
      add(reads[static_cast<std::size_t>(reader)], value.producer);
    }
  }
  return reads;
}

/// Size by size: each set of the next size is one of this size and an operator that has all it
/// reads.
Expected<std::vector<Words>> all_ideals(const DataFlow& flow, std::size_t most) {
  const std::size_t words = (static_cast<std::size_t>(flow.operators) + 63) / 64;
  const std::vector<Words> reads = read_sets(flow, words);
  std::vector<Words> ideals;
  std::set<Words> of_size{Words(words, 0)};
  while (!of_size.empty()) {
    std::set<Words> larger;
    for (const Words& ideal : of_size) {
      for (int i = 0; i < flow.operators; ++i) {
        if (contains(ideal, i) || !contains_all(ideal, reads[static_cast<std::size_t>(i)]))
          continue;
        Words next = ideal;
        add(next, i);
        larger.insert(std::move(next));
      }
      if (ideals.size() + of_size.size() + larger.size() > most) {
        return fail(ErrorCode::kExhausted, "the graph has more than {} ideals", most);
      }
    }
    ideals.insert(ideals.end(), of_size.begin(), of_size.end());
    of_size = std::move(larger);
  }
  return ideals;
}

std::int64_t crossing_bytes(const DataFlow& flow, const Words& ideal) {
  std::int64_t bytes = 0;
  for (const DataFlow::Value& value : flow.values) {
    const bool there = value.producer < 0 || contains(ideal, value.producer);
    // An output of the model has to reach the end; an input that is one stays a value of the model
    // like any other.
    const bool wanted = value.is_output || std::ranges::any_of(value.readers, [&](int reader) {
                          return !contains(ideal, reader);
                        });
    if (there && wanted) bytes += value.bytes;
  }
  return bytes;
}

std::vector<bool> membership_of(const Words& ideal, int operators) {
  std::vector<bool> set;
  for (int i = 0; i < operators; ++i) set.push_back(contains(ideal, i));
  return set;
}

}  // namespace

Expected<std::vector<std::vector<bool>>> find_ideal_sets(const DataFlow& flow, std::size_t most) {
  PARETO_TRY(check_flow(flow));
  PARETO_ASSIGN(const std::vector<Words> found, all_ideals(flow, most));
  std::vector<std::vector<bool>> sets;
  for (const Words& ideal : found) sets.push_back(membership_of(ideal, flow.operators));
  return sets;
}

Expected<Ideals> find_ideals(const DataFlow& flow, std::size_t most) {
  PARETO_TRY(check_flow(flow));
  PARETO_ASSIGN(const std::vector<Words> found, all_ideals(flow, most));
  Ideals ideals;
  std::size_t stages = 0;
  for (std::size_t begin = 0; begin < found.size(); ++begin) {
    std::vector<int>& ends = ideals.ends.emplace_back();
    for (std::size_t end = begin + 1; end < found.size(); ++end) {
      if (contains_all(found[end], found[begin])) ends.push_back(static_cast<int>(end));
    }
    stages += ends.size();
    if (stages > kStagesAnIdeal * most) {
      return fail(ErrorCode::kExhausted, "the graph has more than {} stages",
                  kStagesAnIdeal * most);
    }
    ideals.sets.push_back(membership_of(found[begin], flow.operators));
    ideals.boundary_bytes.push_back(crossing_bytes(flow, found[begin]));
  }
  return ideals;
}

std::vector<int> operators_between(const Ideals& ideals, int begin, int end) {
  std::vector<int> between;
  const std::vector<bool>& without = ideals.sets[static_cast<std::size_t>(begin)];
  const std::vector<bool>& with = ideals.sets[static_cast<std::size_t>(end)];
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (with[i] && !without[i]) between.push_back(static_cast<int>(i));
  }
  return between;
}

}  // namespace pareto::search
