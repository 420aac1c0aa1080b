// Small helpers for what people type and read: nearest names, sizes, durations, lists.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto {

/// Returns at most `count` candidates, those closest to `name` by Levenshtein distance. Ties keep
/// the given order. None is farther away than half the length of the longer one.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates,
                                       std::size_t count = 3);
/// Returns " (did you mean a, b or c?)", or "" when nothing is near: to be put behind an error's
/// sentence.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// Returns "a,b,,c" -> {"a","b","c"}; surrounding blanks are dropped.
std::vector<std::string> split_list(std::string_view text, char separator = ',');
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// Returns the columns that UTF-8 takes on a terminal: its code points (wide and combining
/// characters are not known).
std::size_t display_width(std::string_view text);
/// Returns the text's words, in lines of no more columns unless a single word is longer; 0: in one
/// line. None if there is no word.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Parses "512", "64KiB", "256 MiB", "2GB". Fails: kInvalidArgument naming the text.
Expected<std::uint64_t> parse_bytes(std::string_view text);
/// Parses "20ms", "1.5s", "200us", "3min", "0": a unit is required unless it is zero. Fails:
/// kInvalidArgument.
Expected<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// Parses "150%", "0.05%": from 0, the sign is required unless it is zero. Fails: kInvalidArgument.
Expected<double> parse_percentage(std::string_view text);
/// Parses the same up to 100%.
Expected<double> parse_share(std::string_view text);
/// Returns the shortest percentage that is parsed as that share, if it came from one.
std::string to_percentage(double share);
/// Parses "5W", "800mW": in milliwatts; from one to a million. Fails: kInvalidArgument.
Expected<std::int64_t> parse_power(std::string_view text);
/// Parses "100mbit", "1.5 gbit", "512kbit", "9600bit": bits per second, in steps of 1000. Fails:
/// kInvalidArgument.
Expected<std::uint64_t> parse_rate(std::string_view text);
/// Returns "412 B", "147 KiB", "12.8 MiB": three significant digits.
std::string format_bytes(std::uint64_t bytes);

}  // namespace pareto
