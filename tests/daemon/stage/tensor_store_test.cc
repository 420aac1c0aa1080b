// The store with real files: what is kept, checked, shared, dropped and found again.
#include "daemon/stage/tensor_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// The bytes that a file with 1000 payload bytes takes of the disk: whole blocks.
const std::uint64_t kFileBytes = [] {
  struct statvfs system {};
  EXPECT_EQ(::statvfs(fs::temp_directory_path().c_str(), &system), 0);
  return (64 + 1000 + system.f_frsize - 1) / system.f_frsize * system.f_frsize;
}();

std::vector<std::byte> pattern(std::size_t size, std::size_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed * 31);
  return bytes;
}

class TensorStoreTest : public testing::Test {
 protected:
  TensorStoreTest() : folder_(TemporaryFolder::create("tensor-store").value()) {}

  void open(std::uint64_t limit = 1 << 20) {
    store_.reset();
    store_ = TensorStore::open(folder_.path(), limit).value();
  }
  /// Stores 1000 bytes and returns their digest.
  Digest put(std::size_t seed) {
    const auto bytes = pattern(1000, seed);
    const Digest digest = sha256(bytes);
    const auto stored = put(digest, bytes);
    EXPECT_TRUE(stored) << stored.error().message;
    return digest;
  }
  Expected<> put(const Digest& digest, std::span<const std::byte> bytes) {
    PARETO_ASSIGN(auto upload, store_->begin(digest, {DType::kUInt8,
                                                      {static_cast<std::int64_t>(bytes.size())},
                                                      bytes.size()}));
    PARETO_TRY(upload->append(bytes.first(bytes.size() / 2)));
    PARETO_TRY(upload->append(bytes.subspan(bytes.size() / 2)));
    return upload->finish();
  }
  bool has(const Digest& digest) { return store_->missing({&digest, 1}).empty(); }
  fs::path path_of(const Digest& digest) const {
    return folder_.path() / "objects" / digest.hex().substr(0, 2) / digest.hex().substr(2);
  }
  bool nothing_incoming() const { return fs::is_empty(folder_.path() / "incoming"); }

  TemporaryFolder folder_;
  std::unique_ptr<TensorStore> store_;
};

TEST(TensorFile, HeaderIsTheOneInTheFormat) {
  const auto header = encode_header({DType::kFloat32, {2, 3}, 24}).value();
  std::vector<std::byte> expected(64, std::byte{0});
  std::memcpy(expected.data(), "PTENSOR1\x06\x02", 10);
  expected[16] = std::byte{24};
  expected[24] = std::byte{2};
  expected[32] = std::byte{3};
  EXPECT_EQ(header, expected);
}

TEST(TensorFile, HeadersThatAreNotPossible) {
  EXPECT_EQ(encode_header({DType::kFloat32, {2, 3}, 23}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(encode_header({DType::kFloat32, {-2, -3}, 24}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(encode_header({DType::kUInt8, Shape(65, 1), 1}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(encode_header({DType::kFloat64, {std::int64_t{1} << 61}, 0}));
}

TEST_F(TensorStoreTest, KeepsWhatWasPutAtItsDigest) {
  open();
  const auto bytes = pattern(24, 1);
  const Digest digest = sha256(bytes);
  auto upload = store_->begin(digest, {DType::kFloat32, {2, 3}, 24}).value();
  EXPECT_FALSE(has(digest));
  ASSERT_TRUE(upload->append(std::span(bytes).first(10)));
  EXPECT_FALSE(upload->complete());
  ASSERT_TRUE(upload->append(std::span(bytes).subspan(10)));
  EXPECT_TRUE(upload->complete());
  ASSERT_TRUE(upload->finish());
  EXPECT_TRUE(has(digest));
  EXPECT_EQ(fs::file_size(path_of(digest)), 88U);
  const Tensor tensor = store_->get(digest).value();
  EXPECT_EQ(tensor.dtype(), DType::kFloat32);
  EXPECT_THAT(tensor.shape(), ElementsAre(2, 3));
  EXPECT_TRUE(std::ranges::equal(tensor.bytes(), bytes));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % Tensor::kAlignment, 0U);
  EXPECT_TRUE(nothing_incoming());
}

TEST_F(TensorStoreTest, AnEmptyTensorIsATensor) {
  open();
  const Digest digest = sha256("");
  auto upload = store_->begin(digest, {DType::kInt64, {0, 5}, 0}).value();
  EXPECT_TRUE(upload->complete());
  ASSERT_TRUE(upload->finish());
  EXPECT_EQ(store_->get(digest).value().size_bytes(), 0U);
}

TEST_F(TensorStoreTest, HoldersShareOneMapping) {
  open();
  const Digest digest = put(1);
  const Tensor first = store_->get(digest).value();
  const Tensor second = store_->get(digest).value();
  EXPECT_EQ(first.bytes().data(), second.bytes().data());
}

TEST_F(TensorStoreTest, BytesThatAreNotTheDigestsAreRefused) {
  open();
  const Digest digest = sha256("something else");
  const auto stored = put(digest, pattern(1000, 1));
  EXPECT_EQ(stored.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(stored.error().message, HasSubstr(digest.hex()));
  EXPECT_FALSE(has(digest));
  EXPECT_TRUE(nothing_incoming());
  EXPECT_EQ(store_->status().bytes, 0U);
}

TEST_F(TensorStoreTest, TooManyAndTooFewBytes) {
  open();
  const auto bytes = pattern(100, 1);
  auto upload = store_->begin(sha256(bytes), {DType::kUInt8, {99}, 99}).value();
  EXPECT_EQ(upload->append(bytes).error().code, ErrorCode::kInvalidArgument);
  ASSERT_TRUE(upload->append(std::span(bytes).first(98)));
  EXPECT_EQ(upload->finish().error().code, ErrorCode::kInvalidArgument);
  upload.reset();
  EXPECT_TRUE(nothing_incoming());
}

TEST_F(TensorStoreTest, WhatIsNotThereIsNamed) {
  open();
  const Digest digest = sha256("absent");
  const auto got = store_->get(digest);
  EXPECT_EQ(got.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(got.error().message, HasSubstr(digest.hex()));
}

TEST_F(TensorStoreTest, TheLeastRecentlyUsedMakesRoom) {
  open(3 * kFileBytes);
  const Digest a = put(1);
  const Digest b = put(2);
  const Digest c = put(3);
  // A question about a tensor means that it is wanted.
  EXPECT_TRUE(has(a));
  const Digest d = put(4);
  EXPECT_THAT(store_->missing(std::vector{a, b, c, d}), ElementsAre(b));
  EXPECT_FALSE(fs::exists(path_of(b)));
  EXPECT_EQ(store_->status().bytes, 3 * kFileBytes);
  EXPECT_EQ(store_->status().dropped_bytes, kFileBytes);
  EXPECT_EQ(store_->status().in_use_bytes, 0U);
}

TEST_F(TensorStoreTest, WhatIsInUseStays) {
  open(2 * kFileBytes);
  const Digest a = put(1);
  auto held = std::make_unique<Tensor>(store_->get(a).value());
  const Digest b = put(2);
  const Digest c = put(3);
  EXPECT_THAT(store_->missing(std::vector{a, b, c}), ElementsAre(b));
  EXPECT_EQ(store_->status().in_use_bytes, kFileBytes);
  const Tensor other = store_->get(c).value();
  EXPECT_EQ(store_->status().in_use_bytes, 2 * kFileBytes);
  const auto refused = put(sha256(pattern(1000, 4)), pattern(1000, 4));
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("--store-limit"));
  held.reset();
  put(4);
  EXPECT_FALSE(has(a));
}

TEST_F(TensorStoreTest, UploadsUnderWayCountAndGiveBack) {
  open(kFileBytes);
  const auto bytes = pattern(1000, 1);
  auto upload = store_->begin(sha256(bytes), {DType::kUInt8, {1000}, 1000}).value();
  EXPECT_EQ(put(sha256(pattern(1000, 2)), pattern(1000, 2)).error().code, ErrorCode::kExhausted);
  upload.reset();
  put(2);
}

TEST_F(TensorStoreTest, WhatIsAnnouncedMakesNobodyGo) {
  constexpr std::uint64_t kLimit = 1 << 20;
  open(kLimit);
  std::vector<Digest> kept;
  for (std::size_t i = 0; i < kLimit / kFileBytes - 1; ++i) kept.push_back(put(i));
  constexpr std::uint64_t kAnnounced = kLimit - 4096;
  const auto upload =
      store_->begin(sha256("much"), {DType::kUInt8, {std::int64_t{kAnnounced}}, kAnnounced});
  ASSERT_TRUE(upload) << upload.error().message;
  EXPECT_THAT(store_->missing(kept), ElementsAre());
  // Room is made for what came.
  ASSERT_TRUE((*upload)->append(pattern(2 * kFileBytes, 1)));
  EXPECT_EQ(store_->missing(kept).size(), 2U);
  EXPECT_LE(store_->status().bytes, kLimit);
}

TEST_F(TensorStoreTest, BesideWhatIsInUseTooMuchIsRefusedBeforeItComes) {
  open(3 * kFileBytes);
  const Digest used = put(1);
  const Digest idle = put(2);
  const Tensor held = store_->get(used).value();
  const std::uint64_t size = 3 * kFileBytes - 64;
  const auto refused =
      store_->begin(sha256("x"), {DType::kUInt8, {static_cast<std::int64_t>(size)}, size});
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(has(idle));
}

TEST_F(TensorStoreTest, SmallTensorsCountWithTheBlocksThatTheyTake) {
  open(8 * kFileBytes);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto bytes = pattern(8, i);
    ASSERT_TRUE(put(sha256(bytes), bytes));
  }
  EXPECT_EQ(store_->status().tensors, 8U);
  EXPECT_EQ(store_->status().bytes, 8 * kFileBytes);
}

TEST_F(TensorStoreTest, ATensorLargerThanTheStoreIsRefusedAtOnce) {
  open(1000);
  const auto refused =
      store_->begin(sha256("x"), {DType::kUInt8, {std::int64_t{1} << 40}, std::uint64_t{1} << 40});
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("1.00 TiB"));
}

TEST_F(TensorStoreTest, SaysWhatItCouldNeverHoldAtOnce) {
  open(1000);
  EXPECT_TRUE(store_->check_capacity(1000));
  const auto refused = store_->check_capacity(1001);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("--store-limit"));
}

TEST_F(TensorStoreTest, ASmallerLimitDropsWhatIsIdle) {
  open();
  const Digest a = put(1);
  const Digest b = put(2);
  store_->set_limit(kFileBytes);
  EXPECT_THAT(store_->missing(std::vector{a, b}), ElementsAre(a));
}

TEST_F(TensorStoreTest, ALaterProcessFindsEverything) {
  open();
  const Digest digest = put(1);
  std::ofstream(folder_.path() / "objects" / "notes.txt") << "not ours";
  std::ofstream(folder_.path() / "incoming" / "half") << "left behind";
  open();
  EXPECT_TRUE(nothing_incoming());
  EXPECT_EQ(store_->status().tensors, 1U);
  EXPECT_TRUE(std::ranges::equal(store_->get(digest).value().bytes(), pattern(1000, 1)));
}

TEST_F(TensorStoreTest, ADamagedFileIsDroppedAndMissing) {
  for (const bool cut_short : {false, true}) {
    open();
    const Digest digest = put(1);
    store_.reset();
    if (cut_short) {
      fs::resize_file(path_of(digest), 500);
    } else {
      std::fstream file(path_of(digest), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(700);
      file.put('!');
    }
    open();
    const auto got = store_->get(digest);
    ASSERT_FALSE(got) << cut_short;
    EXPECT_EQ(got.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(got.error().message, HasSubstr("damaged"));
    EXPECT_FALSE(has(digest));
    EXPECT_FALSE(fs::exists(path_of(digest)));
    EXPECT_EQ(store_->status().bytes, 0U);
    put(1);
    EXPECT_TRUE(store_->get(digest));
  }
}

TEST_F(TensorStoreTest, AFileThatIsNoTensorIsDropped) {
  open();
  const Digest digest = sha256("x");
  fs::create_directories(path_of(digest).parent_path());
  std::ofstream(path_of(digest)) << std::string(200, 'x');
  open();
  EXPECT_EQ(store_->get(digest).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(path_of(digest)));
}

TEST_F(TensorStoreTest, WritingIntoAMappingReachesNobodyElse) {
  open();
  const Digest digest = put(1);
  {
    const Tensor tensor = store_->get(digest).value();
    *const_cast<std::byte*>(tensor.bytes().data()) ^= std::byte{0xff};
  }
  open();
  EXPECT_TRUE(store_->get(digest));
}

TEST_F(TensorStoreTest, OneDaemonAFolder) {
  open();
  const auto second = TensorStore::open(folder_.path(), 1 << 20);
  EXPECT_EQ(second.error().code, ErrorCode::kPermission);
  EXPECT_THAT(second.error().message, HasSubstr("is used by another paretod"));
}

TEST_F(TensorStoreTest, AFolderThatCannotBeMade) {
  std::ofstream(folder_.path() / "file") << "x";
  EXPECT_FALSE(TensorStore::open(folder_.path() / "file", 1 << 20));
}

TEST_F(TensorStoreTest, ManyThreadsPutAndGetTheSame) {
  open();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const auto bytes = pattern(1000, (i + t) % 3);
          const Digest digest = sha256(bytes);
          const auto stored = put(digest, bytes);
          EXPECT_TRUE(stored) << stored.error().message;
          const auto got = store_->get(digest);
          ASSERT_TRUE(got) << got.error().message;
          EXPECT_TRUE(std::ranges::equal(got->bytes(), bytes));
        }
      });
    }
  }
  EXPECT_EQ(store_->status().tensors, 3U);
  EXPECT_EQ(store_->status().bytes, 3 * kFileBytes);
  EXPECT_TRUE(nothing_incoming());
}

}  // namespace
}  // namespace pareto::daemon
