// A store on a disk that is smaller than its limit: a tmpfs in a mount namespace of this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "core/base/file.h"
#include "daemon/stage/tensor_store.h"

namespace pareto::daemon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kTensorBytes = 200 << 10;
constexpr std::uint64_t kStoreBytes = std::uint64_t{8} << 30;

/// Calls `use` with a folder that has room for about five tensors. A thread has a mount namespace
/// of its own, which goes with it.
void on_small_disk(const std::function<void(const std::filesystem::path&)>& use) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount";
  const TemporaryFolder folder = TemporaryFolder::create("full-disk-test").value();
  int failed = 0;
  std::jthread([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1100k") != 0) {
      failed = errno;
      return;
    }
    use(folder.path());
  }).join();
  if (failed != 0) GTEST_SKIP() << "no mount here: " << std::strerror(failed);
}

std::vector<std::byte> tensor_bytes(std::size_t seed) {
  std::vector<std::byte> bytes(kTensorBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed);
  return bytes;
}

Digest digest_of(std::size_t seed) { return sha256(tensor_bytes(seed)); }

Expected<> put(TensorStore& store, std::size_t seed) {
  const auto bytes = tensor_bytes(seed);
  PARETO_ASSIGN(auto upload,
                store.begin(digest_of(seed), {DType::kUInt8, {std::ssize(bytes)}, bytes.size()}));
  PARETO_TRY(upload->append(std::span(bytes).first(bytes.size() / 3)));
  PARETO_TRY(upload->append(std::span(bytes).subspan(bytes.size() / 3)));
  return upload->finish();
}

bool has(TensorStore& store, std::size_t seed) {
  const Digest digest = digest_of(seed);
  return store.missing({&digest, 1}).empty();
}

TEST(FullDisk, TheOldestUnusedWeightsMakeRoom) {
  on_small_disk([](const std::filesystem::path& folder) {
    const auto store = TensorStore::open(folder, kStoreBytes).value();
    ASSERT_TRUE(put(*store, 0));
    const Tensor used = store->get(digest_of(0)).value();
    for (std::size_t seed = 1; seed <= 12; ++seed) {
      const auto stored = put(*store, seed);
      ASSERT_TRUE(stored) << seed << ": " << stored.error().message;
    }
    EXPECT_TRUE(has(*store, 0)) << "it is in use";
    EXPECT_FALSE(has(*store, 1)) << "it was the oldest that is not";
    EXPECT_TRUE(has(*store, 12));
    EXPECT_EQ(store->get(digest_of(12)).value().size_bytes(), kTensorBytes);
    const TensorStore::Status status = store->status();
    EXPECT_GE(status.dropped_bytes, 8 * kTensorBytes);
    EXPECT_LT(status.free_bytes, std::uint64_t{1} << 20);
  });
}

TEST(FullDisk, WithoutUnusedWeightsTheErrorSaysWhatToDo) {
  on_small_disk([](const std::filesystem::path& folder) {
    const auto store = TensorStore::open(folder, kStoreBytes).value();
    std::vector<Tensor> used;
    Expected<> stored;
    for (std::size_t seed = 0; seed < 12 && stored; ++seed) {
      stored = put(*store, seed);
      if (stored) used.push_back(store->get(digest_of(seed)).value());
    }
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code, ErrorCode::kExhausted);
    EXPECT_THAT(stored.error().message,
                AllOf(HasSubstr(folder.string() + " is full"), HasSubstr("unload shards"),
                      HasSubstr("--state-dir")));
    EXPECT_TRUE(std::filesystem::is_empty(folder / "incoming")) << "what came of it is gone";
    used.clear();
    EXPECT_TRUE(put(*store, 99)) << "once they are not in use any more they make room";
  });
}

TEST(FullDisk, AShardThatCannotFitIsRefusedWithTheRoomThatThereIs) {
  on_small_disk([](const std::filesystem::path& folder) {
    const auto store = TensorStore::open(folder, kStoreBytes).value();
    ASSERT_TRUE(put(*store, 0));
    EXPECT_TRUE(store->check_capacity(600 << 10)) << "what is held makes room";
    const auto refused = store->check_capacity(2 << 20);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("has room for"), HasSubstr("--state-dir")));
  });
}

}  // namespace
}  // namespace pareto::daemon
