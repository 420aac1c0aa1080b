#include "runtime/archive/zip_records.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <set>

#include "runtime/archive/code_words.h"

namespace pareto::runtime {
namespace {

constexpr std::size_t kListEndBytes = 22;
constexpr std::size_t kLongListEndBytes = 56;
constexpr std::size_t kLongLocatorBytes = 20;
constexpr std::size_t kListEntryBytes = 46;
constexpr std::size_t kHeaderBytes = 30;
/// Most bytes behind a record: its sizes and checksum once more.
constexpr std::uint64_t kMostBehindRecord = 24;
constexpr std::uint32_t kEscape = 0xffffffff;  ///< the number stands in the 64-bit field
constexpr std::uint16_t kLongField = 1;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kSizesFollow = 8;

tl::unexpected<Error> no_archive(std::string_view why) {
  return fail(ErrorCode::kCorrupt, "it is no archive that a shard can be in: {}", why);
}

/// Bytes that are read at any place; a place outside reads as zeros, and is remembered.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}

  std::uint16_t u16(std::uint64_t at) { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::uint64_t at) { return number(at, 8); }
  std::string_view part(std::uint64_t at, std::uint64_t size) {
    if (at <= all_.size() && size <= all_.size() - at) return all_.substr(at, size);
    outside_ = true;
    return {};
  }
  bool outside() const { return outside_; }

 private:
  std::uint64_t number(std::uint64_t at, std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view bytes = part(at, size);
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }

  const std::string_view all_;
  bool outside_ = false;
};

/// Place of the list in the file.
struct ListPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t records = 0;
};

Expected<ListPlace> find_list(Bytes& bytes, std::uint64_t size) {
  if (size < kListEndBytes) return no_archive("it is too short");
  const std::uint64_t end = size - kListEndBytes;
  if (bytes.part(end, 4) != "PK\x05\x06" || bytes.u16(end + 20) != 0) {
    return no_archive("no list of records ends it");
  }
  if (bytes.u16(end + 4) != 0 || bytes.u16(end + 6) != 0 ||
      bytes.u16(end + 8) != bytes.u16(end + 10)) {
    return no_archive("it is a part of several");
  }
  ListPlace place{bytes.u32(end + 16), end, bytes.u16(end + 10)};
  std::uint64_t list_bytes = bytes.u32(end + 12);
  const std::uint64_t extra = kLongLocatorBytes + kLongListEndBytes;
  if (end >= extra && bytes.part(end - kLongLocatorBytes, 4) == "PK\x06\x07") {
    place.end = end - extra;
    if (bytes.part(place.end, 4) != "PK\x06\x06" || bytes.u64(place.end + 4) != 44 ||
        bytes.u64(end - kLongLocatorBytes + 8) != place.end ||
        bytes.u64(place.end + 24) != bytes.u64(place.end + 32)) {
      return no_archive("its 64-bit list is elsewhere");
    }
    place.records = bytes.u64(place.end + 32);
    list_bytes = bytes.u64(place.end + 40);
    place.begin = bytes.u64(place.end + 48);
  }
  if (place.begin > place.end || place.end - place.begin != list_bytes) {
    return no_archive("its list is not where its end says");
  }
  if (place.records > kMostRecords) {
    return fail(ErrorCode::kCorrupt, "the archive has {} records; at most {}", place.records,
                kMostRecords);
  }
  return place;
}

/// An entry of the list.
struct Entry {
  ZipRecord record;
  std::uint64_t header = 0;  ///< place of the record's own header
  std::uint64_t stored = 0;  ///< bytes in the archive
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
};

/// Replaces numbers that do not fit 32 bits by those of the 64-bit field.
Expected<> read_long_field(Bytes& bytes, std::uint64_t at, std::uint64_t size, Entry& entry) {
  const std::uint64_t end = at + size;
  while (at + 4 <= end) {
    const std::uint16_t field_bytes = bytes.u16(at + 2);
    if (bytes.u16(at) == kLongField) {
      std::uint64_t place = at + 4;
      for (std::uint64_t* const number : {&entry.record.size, &entry.stored, &entry.header}) {
        if (*number != kEscape) continue;
        if (place + 8 > at + 4 + field_bytes || place + 8 > end) {
          return no_archive("a 64-bit size is missing");
        }
        *number = bytes.u64(place);
        place += 8;
      }
      return {};
    }
    at += 4 + std::uint64_t{field_bytes};
  }
  return {};
}

bool is_plain_name(std::string_view name) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c >= ' ' && c < '\x7f'; });
  return !name.empty() && printable && !name.starts_with('/') && !name.ends_with('/') &&
         name.find("..") == std::string_view::npos && name.find('\\') == std::string_view::npos;
}

/// Reads the entry at `at` and moves `at` behind it.
Expected<Entry> read_entry(Bytes& bytes, std::uint64_t& at) {
  if (bytes.part(at, 4) != "PK\x01\x02") return no_archive("its list has something else in it");
  Entry entry;
  entry.flags = bytes.u16(at + 8);
  entry.method = bytes.u16(at + 10);
  entry.record.checksum = bytes.u32(at + 16);
  entry.stored = bytes.u32(at + 20);
  entry.record.size = bytes.u32(at + 24);
  entry.header = bytes.u32(at + 42);
  const std::uint64_t name_bytes = bytes.u16(at + 28);
  const std::uint64_t field_bytes = bytes.u16(at + 30);
  if (bytes.u16(at + 32) != 0) return no_archive("a record has a comment");
  entry.record.name_at = at + kListEntryBytes;
  entry.record.name = bytes.part(entry.record.name_at, name_bytes);
  if (!is_plain_name(entry.record.name)) return no_archive("a record has a strange name");
  PARETO_TRY(read_long_field(bytes, entry.record.name_at + name_bytes, field_bytes, entry));
  entry.record.compressed = entry.method == Z_DEFLATED;
  if (entry.method != 0 && !entry.record.compressed) {
    return no_archive("a record is compressed in another way than by Deflate");
  }
  if ((entry.flags & kEncrypted) != 0) return no_archive("a record is encrypted");
  if (!entry.record.compressed && entry.stored != entry.record.size) {
    return no_archive("a record has two sizes");
  }
  at += kListEntryBytes + name_bytes + field_bytes;
  return entry;
}

/// Checks the record's own header, and takes its bytes. `at` is the end of the record before, and
/// becomes that of this one.
Expected<> take_bytes(Bytes& bytes, Entry& entry, std::uint64_t& at) {
  const std::uint64_t header = entry.header;
  if (at == 0 && header != 0) return no_archive("something stands before its first record");
  if (header < at || header - at > kMostBehindRecord) return no_archive("records overlap");
  const std::uint64_t name_bytes = bytes.u16(header + 26);
  if (bytes.part(header, 4) != "PK\x03\x04" ||
      bytes.part(header + kHeaderBytes, name_bytes) != entry.record.name ||
      bytes.u16(header + 6) != entry.flags || bytes.u16(header + 8) != entry.method) {
    return no_archive("a record is not what the list says");
  }
  if ((entry.flags & kSizesFollow) == 0 && bytes.u32(header + 18) != kEscape &&
      bytes.u32(header + 18) != entry.stored) {
    return no_archive("a record has two sizes");
  }
  const std::uint64_t begin = header + kHeaderBytes + name_bytes + bytes.u16(header + 28);
  entry.record.bytes = bytes.part(begin, entry.stored);
  if (bytes.outside()) return no_archive("a record lies outside");
  at = begin + entry.stored;
  return {};
}

}  // namespace

Expected<std::vector<ZipRecord>> read_zip_list(std::string_view archive) {
  Bytes bytes(archive);
  PARETO_ASSIGN(const ListPlace place, find_list(bytes, archive.size()));
  std::vector<ZipRecord> records;
  std::set<std::string> names;
  std::uint64_t at = place.begin;
  std::uint64_t end_of_record = 0;
  std::uint64_t inflated = 0;
  for (std::uint64_t i = 0; i < place.records; ++i) {
    PARETO_ASSIGN(Entry entry, read_entry(bytes, at));
    if (at > place.end) return no_archive("its list is longer than it says");
    PARETO_TRY(take_bytes(bytes, entry, end_of_record));
    if (end_of_record > place.begin) return no_archive("a record lies in the list");
    if (!names.insert(lower_case(entry.record.name)).second) {
      return no_archive("two records have one name");
    }
    if (entry.record.compressed) {
      if (entry.record.size > kMostInflatedBytes - inflated) {
        return fail(ErrorCode::kCorrupt, "its records have more than {} MiB when they are inflated",
                    kMostInflatedBytes >> 20);
      }
      inflated += entry.record.size;
    }
    records.push_back(std::move(entry.record));
  }
  if (at != place.end) return no_archive("its list is shorter than it says");
  return records;
}

Expected<std::string> read_zip_record(const ZipRecord& record) {
  std::string content;
  if (record.compressed) {
    if (record.bytes.size() > std::numeric_limits<uInt>::max()) {
      return fail(ErrorCode::kCorrupt, "{}: it is too large", record.name);
    }
    content.resize(record.size);
    z_stream stream{};
    // Its bytes have no header of zlib's.
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
      return fail(ErrorCode::kExhausted, "{}: no memory to inflate it", record.name);
    }
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(record.bytes.data()));
    stream.avail_in = static_cast<uInt>(record.bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(content.data());
    stream.avail_out = static_cast<uInt>(content.size());
    const int status = inflate(&stream, Z_FINISH);
    const bool whole = status == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd(&stream);
    if (!whole) return fail(ErrorCode::kCorrupt, "{}: it is damaged", record.name);
  } else {
    content = record.bytes;
  }
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (checksum != record.checksum) {
    return fail(ErrorCode::kCorrupt, "{}: it is damaged (its checksum is another)", record.name);
  }
  return content;
}

Expected<> hide_records(std::span<char> archive, std::string_view ending) {
  PARETO_ASSIGN(const std::vector<ZipRecord> list, read_zip_list({archive.data(), archive.size()}));
  for (const ZipRecord& record : list) {
    if (!lower_case(record.name).ends_with(ending)) continue;
    archive[record.name_at + record.name.size() - 1] = '-';
  }
  return {};
}

}  // namespace pareto::runtime
