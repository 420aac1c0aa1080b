#include "daemon/stage/tensor_store.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto::daemon {
namespace {

namespace fs = std::filesystem;

/// Returns whether an errno says that a file system, or this user's quota on it, is full.
bool is_full(int number) { return number == ENOSPC || number == EDQUOT; }

}  // namespace

Expected<std::unique_ptr<TensorStore>> TensorStore::open(const fs::path& folder,
                                                         std::uint64_t limit_bytes) {
  PARETO_ASSIGN(auto opened, with_context(TensorFolder::open(folder), "tensor store"));
  PARETO_ASSIGN(const auto files,
                with_context(opened->files(), "tensor store {}", folder.string()));
  std::unique_ptr<TensorStore> store(new TensorStore(std::move(opened), limit_bytes));
  store->adopt(files);
  return store;
}

void TensorStore::adopt(const std::vector<TensorFolder::File>& files) {
  const std::lock_guard lock(mutex_);
  for (const TensorFolder::File& file : files) {
    const std::uint64_t taken = folder_->taken_bytes(file.bytes);
    entries_[file.digest] = {taken, ++uses_, false, {}};
    bytes_ += taken;
  }
  while ((bytes_ > limit_bytes_ || entries_.size() > kMostTensors) && drop_oldest()) {
  }
}

std::vector<Digest> TensorStore::missing(std::span<const Digest> digests) {
  const std::lock_guard lock(mutex_);
  std::vector<Digest> absent;
  for (const Digest& digest : digests) {
    const auto found = entries_.find(digest);
    if (found == entries_.end()) {
      absent.push_back(digest);
    } else {
      found->second.last_used = ++uses_;
    }
  }
  return absent;
}

Expected<std::shared_ptr<const MappedTensorFile>> TensorStore::map(const Digest& digest,
                                                                   Entry& entry) {
  entry.last_used = ++uses_;
  if (auto mapping = entry.mapping.lock()) return mapping;
  const fs::path path = folder_->path_of(digest);
  PARETO_ASSIGN(auto mapping, MappedTensorFile::open(path));
  // Times of files keep the order of last use beyond the end of this process.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  entry.mapping = mapping;
  return mapping;
}

Expected<Tensor> TensorStore::get(const Digest& digest) {
  std::shared_ptr<const MappedTensorFile> mapping;
  bool verified = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(digest);
    if (found == entries_.end()) {
      return fail(ErrorCode::kNotFound, "no tensor {} in the store", digest.hex());
    }
    auto mapped = map(digest, found->second);
    if (!mapped) {
      spdlog::warn("tensor store: dropping a file: {}", mapped.error().message);
      drop(digest);
      return fail(ErrorCode::kNotFound, "tensor {} was damaged and dropped ({}); send it again",
                  digest.hex(), mapped.error().message);
    }
    mapping = *std::move(mapped);
    verified = found->second.verified;
  }
  if (!verified) {
    // This reads the whole file, so the lock is not held. Holding the mapping keeps it from being
    // dropped meanwhile.
    const bool intact = sha256(mapping->data()) == digest;
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(digest);
    if (intact && found != entries_.end()) found->second.verified = true;
    if (!intact) {
      spdlog::warn("tensor store: dropping {}: its bytes changed",
                   folder_->path_of(digest).string());
      if (found != entries_.end()) drop(digest);
      return fail(ErrorCode::kNotFound,
                  "tensor {} was damaged and dropped (its bytes changed); send it again",
                  digest.hex());
    }
  }
  const TensorFileHeader& header = mapping->header();
  const std::byte* data = mapping->data().data();
  return Tensor::borrow(header.dtype, header.shape, data, std::move(mapping));
}

Expected<std::unique_ptr<TensorUpload>> TensorStore::begin(const Digest& digest,
                                                           TensorFileHeader header) {
  PARETO_ASSIGN(const std::vector<std::byte> head,
                with_context(encode_header(header), "tensor {}", digest.hex()));
  std::unique_ptr<TensorUpload> upload(new TensorUpload(*this, digest, std::move(header)));
  upload->header_bytes_ = head.size();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(digest); found != entries_.end()) {
      found->second.last_used = ++uses_;
      return upload;
    }
    PARETO_TRY(check_room(*upload));
  }
  PARETO_TRY(make_room(*upload));
  std::string pattern;
  const int failed = with_room([&] {
    pattern = folder_->upload_pattern();
    upload->file_ = FileDescriptor(::mkostemp(pattern.data(), O_CLOEXEC));
    return upload->file_ ? 0 : errno;
  });
  if (is_full(failed)) return tl::unexpected(disk_full());
  if (failed != 0) return tl::unexpected(error_from_errno(failed, pattern));
  upload->path_ = pattern;
  PARETO_TRY(with_context(write(upload->file_.get(), head), "tensor {}", digest.hex()));
  return upload;
}

int TensorStore::with_room(const std::function<int()>& attempt) {
  for (;;) {
    const int number = attempt();
    if (!is_full(number)) return number;
    const std::lock_guard lock(mutex_);
    if (!drop_oldest()) return number;
  }
}

Expected<> TensorStore::write(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = 0;
    const int failed = with_room([&] {
      written = ::write(fd, bytes.data(), bytes.size());
      return written < 0 ? errno : 0;
    });
    if (failed == EINTR) continue;
    if (is_full(failed)) return tl::unexpected(disk_full());
    if (failed != 0) return tl::unexpected(error_from_errno(failed, "writing the tensor"));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Error TensorStore::disk_full() const {
  return {ErrorCode::kExhausted,
          fmt::format("the file system of {} is full ({} free), and all weights that the store "
                      "holds are in use: free some space there, unload shards, or name a folder "
                      "on a larger one (--state-dir)",
                      folder_->path().string(), format_bytes(folder_->free_bytes()))};
}

std::uint64_t TensorStore::in_use_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [digest, entry] : entries_) {
    if (!entry.mapping.expired()) bytes += entry.file_bytes;
  }
  return bytes;
}

tl::unexpected<Error> TensorStore::no_room(const TensorUpload& upload, std::uint64_t needed,
                                           std::uint64_t in_use) const {
  return fail(ErrorCode::kExhausted,
              "tensor {}: needs {} in the tensor store, its limit is {} and {} are in use; "
              "unload shards or raise --store-limit",
              upload.digest_.hex(), format_bytes(needed), format_bytes(limit_bytes_),
              format_bytes(in_use));
}

Expected<> TensorStore::check_room(const TensorUpload& upload) const {
  const std::uint64_t announced = upload.header_.size_bytes;
  // A sum with a size that makes no sense would overflow.
  const std::uint64_t needed =
      announced > limit_bytes_ ? announced : folder_->taken_bytes(upload.header_bytes_ + announced);
  const auto fits_beside = [&](std::uint64_t others) {
    return needed <= limit_bytes_ && others <= limit_bytes_ - needed;
  };
  if (fits_beside(bytes_ + reserved_)) return {};
  const std::uint64_t in_use = in_use_bytes() + reserved_;
  if (fits_beside(in_use)) return {};
  return no_room(upload, needed, in_use);
}

Expected<> TensorStore::make_room(TensorUpload& upload) {
  const std::uint64_t needed = folder_->taken_bytes(upload.header_bytes_ + upload.received_);
  if (needed <= upload.reserved_) return {};
  const std::uint64_t more = needed - upload.reserved_;
  const std::lock_guard lock(mutex_);
  while (bytes_ + reserved_ + more > limit_bytes_ && drop_oldest()) {
  }
  if (bytes_ + reserved_ + more > limit_bytes_) return no_room(upload, needed, bytes_ + reserved_);
  reserved_ += more;
  upload.reserved_ = needed;
  return {};
}

Expected<> TensorStore::publish(TensorUpload& upload) {
  // The file is not flushed to the disk. After a power cut, its first use notices what is missing,
  // and it is sent again.
  const fs::path path = folder_->path_of(upload.digest_);
  const int failed = with_room([&] {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    return error.value();
  });
  if (is_full(failed)) return tl::unexpected(disk_full());
  if (failed != 0) return tl::unexpected(error_from_errno(failed, path.parent_path().string()));
  const std::lock_guard lock(mutex_);
  // Another upload of the same tensor may have been faster.
  if (entries_.contains(upload.digest_)) return {};
  if (::rename(upload.path_.c_str(), path.c_str()) != 0) {
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  upload.path_.clear();
  entries_[upload.digest_] = {upload.reserved_, ++uses_, true, {}};
  bytes_ += upload.reserved_;
  reserved_ -= upload.reserved_;
  upload.reserved_ = 0;
  while (entries_.size() > kMostTensors && drop_oldest()) {
  }
  return {};
}

void TensorStore::release(std::uint64_t reserved_bytes) {
  const std::lock_guard lock(mutex_);
  reserved_ -= reserved_bytes;
}

bool TensorStore::drop_oldest() {
  const Digest* oldest = nullptr;
  std::uint64_t last_used = uses_ + 1;
  for (const auto& [digest, entry] : entries_) {
    if (entry.last_used < last_used && entry.mapping.expired()) {
      oldest = &digest;
      last_used = entry.last_used;
    }
  }
  if (oldest == nullptr) return false;
  dropped_ += entries_.at(*oldest).file_bytes;
  drop(Digest(*oldest));
  return true;
}

void TensorStore::drop(const Digest& digest) {
  const auto found = entries_.find(digest);
  std::error_code ignored;
  fs::remove(folder_->path_of(digest), ignored);
  bytes_ -= found->second.file_bytes;
  entries_.erase(found);
}

Expected<> TensorStore::check_capacity(std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_bytes_) {
    return fail(ErrorCode::kExhausted,
                "{} of weights, and the tensor store takes {}: raise --store-limit",
                format_bytes(bytes), format_bytes(limit_bytes_));
  }
  const std::uint64_t free = folder_->free_bytes();
  if (free == 0 || bytes <= bytes_ + free) return {};
  return fail(ErrorCode::kExhausted,
              "{} of weights, and the file system of {} has room for {}: free some space there, or "
              "name a folder on a larger one (--state-dir)",
              format_bytes(bytes), folder_->path().string(), format_bytes(bytes_ + free));
}

TensorStore::Status TensorStore::status() const {
  const std::lock_guard lock(mutex_);
  return {bytes_, limit_bytes_, entries_.size(), in_use_bytes(), dropped_, folder_->free_bytes()};
}

void TensorStore::set_limit(std::uint64_t limit_bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = limit_bytes;
  while (bytes_ + reserved_ > limit_bytes_ && drop_oldest()) {
  }
}

}  // namespace pareto::daemon
