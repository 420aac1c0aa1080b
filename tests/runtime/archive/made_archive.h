// Zip archives made byte by byte, good ones and forged ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pareto::test {

/// Returns a number as `bytes` bytes, the least first.
inline std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

/// Returns a text compressed as zip files have it.
inline std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

/// A record of a made-up archive, and what it says of itself.
struct Made {
  std::string name;
  std::string content;
  bool compressed = false;
  std::string listed_name = name;
  std::uint64_t said_size = content.size();
  std::int64_t shift = 0;  ///< added to the place that the list says
  std::uint32_t checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  std::uint16_t flags = 0;
};

/// Returns an archive; `behind` comes between its list and the end of it.
inline std::string archive_of(const std::vector<Made>& records, const std::string& behind = "",
                              std::int64_t count_error = 0, const std::string& comment = "") {
  std::string bytes;
  std::string list;
  for (const Made& made : records) {
    const std::string stored = made.compressed ? deflated(made.content) : made.content;
    const std::string common = number(made.flags, 2) + number(made.compressed ? 8 : 0, 2) +
                               number(0, 4) + number(made.checksum, 4) + number(stored.size(), 4) +
                               number(made.said_size, 4);
    list += "PK\x01\x02" + number(20, 2) + number(20, 2) + common +
            number(made.listed_name.size(), 2) + number(0, 12) +
            number(static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes.size()) + made.shift),
                   4) +
            made.listed_name;
    bytes += "PK\x03\x04" + number(20, 2) + common + number(made.name.size(), 2) + number(0, 2) +
             made.name + stored;
  }
  const auto count =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(records.size()) + count_error);
  return bytes + list + behind + "PK\x05\x06" + number(0, 4) + number(count, 2) + number(count, 2) +
         number(list.size(), 4) + number(bytes.size(), 4) + number(comment.size(), 2) + comment;
}

}  // namespace pareto::test
