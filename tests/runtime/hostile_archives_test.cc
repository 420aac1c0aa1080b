// Archives that were damaged or forged: each is refused, or loaded as what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <random>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "runtime/archive/archive_check.h"
#include "runtime/archive/memory_reader.h"
#include "runtime/archive/zip_records.h"
#include "tests/runtime/strange_shard.h"
#include "tests/support/debug_pickle.h"
#include "tests/support/rewritten_archive.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// A shard with code, constants, a tensor and an attribute of text.
plan::Shard whole_shard() {
  plan::Shard shard = test::shard_of(R"(
def part(self, x, n: int):
    return torch.relu(x + n)
def run(self, x):
    y = torch.add(self.part(x, 3), torch.tensor([1.5, 2.5, 3.5, 4.5]))
    values = [1, 2, 3]
    for i in range(3):
        y = torch.mul(y, values[i])
    if bool(torch.gt(torch.sum(y), 0)):
        y = torch.neg(y)
    return (y, values, "text")
)");
  return shard;
}

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto place = [&] {
    return std::uniform_int_distribution<std::size_t>(0, bytes.size())(random);
  };
  const int edits = std::uniform_int_distribution<int>(1, 4)(random);
  for (int i = 0; i < edits && !bytes.empty(); ++i) {
    const std::size_t at = std::min(place(), bytes.size() - 1);
    switch (std::uniform_int_distribution<int>(0, 5)(random)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, 1 + random() % 8);
        break;
      case 3:
        bytes.insert(at, 1 + random() % 8, static_cast<char>(random()));
        break;
      case 4: {
        const std::string part = bytes.substr(at, 1 + random() % 40);
        bytes.insert(std::min(place(), bytes.size()), part);
        break;
      }
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

/// Loads a shard and, if that works, runs it: nothing but errors may come of it.
void try_shard(const plan::Shard& shard) {
  RunnerOptions options;
  options.engine = "plain";
  options.memory_bytes = std::uint64_t{64} << 20;
  const auto runner = test::load(shard, options);
  if (runner) static_cast<void>((*runner)->run(test::ones()));
}

TEST(HostileArchives, DamagedBytesAreRefusedByTheirChecksum) {
  std::mt19937 random(1);
  plan::Shard shard = whole_shard();
  const std::string good = shard.archive;
  ASSERT_TRUE(check_shard_archive(good)) << check_shard_archive(good).error().message;
  for (int i = 0; i < 500; ++i) {
    shard.archive = damaged(good, random);
    try_shard(shard);
  }
}

TEST(HostileArchives, ForgedRecordsThatFitTheirChecksumAreRefusedOrRun) {
#ifdef __SANITIZE_ADDRESS__
  // LibTorch forgets what it had read of an archive that it refuses.
  const __lsan::ScopedDisabler leaks;
#endif
  std::mt19937 random(2);
  plan::Shard shard = whole_shard();
  const std::string good = shard.archive;
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const char* const record = i % 3 == 0 ? "data.pkl" : i % 3 == 1 ? "constants.pkl" : ".py";
    shard.archive = test::rewritten_archive(
        good, [&](const std::string& bytes) { return damaged(bytes, random); }, record);
    refused += check_shard_archive(shard.archive) ? 0 : 1;
    try_shard(shard);
  }
  EXPECT_GT(refused, 100);
}

TEST(HostileArchives, WhatTheCheckReadsIsWhatLibTorchReads) {
  const std::string good = whole_shard().archive;
  const auto list = read_zip_list(good);
  ASSERT_TRUE(list) << list.error().message;
  std::istringstream stream(good);
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  ASSERT_EQ(reader.getAllRecords().size(), list->size());
  for (const ZipRecord& record : *list) {
    const auto content = read_zip_record(record);
    ASSERT_TRUE(content) << content.error().message;
    const auto [bytes, size] = reader.getRecord(record.name.substr(record.name.find('/') + 1));
    EXPECT_EQ(*content, std::string(static_cast<const char*>(bytes.get()), size)) << record.name;
  }
}

TEST(HostileArchives, TensorsAsLibTorchWritesThemPass) {
  torch::jit::Module module("__torch__.Shard");
  auto hold = [&, count = 0](const c10::IValue& value) mutable {
    module.register_attribute("t" + std::to_string(count++), value.type(), value);
  };
  const at::Tensor plain = torch::randn({4, 3, 2});
  for (const at::Tensor& tensor :
       {plain, plain.transpose(0, 2), plain.narrow(1, 1, 2), plain.expand({300, 4, 3, 2}),
        plain.slice(0, 4), torch::scalar_tensor(2.5), torch::empty({0, 70'000}),
        plain.to(torch::kHalf), plain.to(torch::kBFloat16), plain > 0, torch::arange(100'000),
        torch::randn({3}, torch::kComplexFloat)}) {
    hold(tensor);
  }
  hold(at::quantize_per_tensor(plain, 0.1, 3, torch::kQUInt8));
  for (const std::int64_t axis : {0, 1}) {
    const std::int64_t channels = plain.size(axis);
    hold(at::quantize_per_channel(plain, torch::ones({channels}, torch::kDouble),
                                  torch::zeros({channels}, torch::kLong), axis, torch::kQInt8));
  }
  torch::jit::Stack stack{
      at::quantize_per_channel(torch::randn({4, 6}), torch::ones({4}, torch::kDouble),
                               torch::zeros({4}, torch::kLong), 0, torch::kQInt8),
      torch::randn({4})};
  c10::Dispatcher::singleton().findSchemaOrThrow("quantized::linear_prepack", "").callBoxed(&stack);
  hold(stack.back());
  hold(stack.back());
  module.define("def run(self, x):\n    return (x + torch.tensor([1.5, 2.5, 3.5, 4.5]),)\n");
  std::ostringstream bytes;
  module.save(bytes);
  const auto checked = check_archive(bytes.str());
  EXPECT_TRUE(checked) << checked.error().message;
  const auto as_shard = check_shard_archive(bytes.str());
  EXPECT_TRUE(as_shard) << as_shard.error().message;
}

TEST(HostileArchives, LibTorchFindsNoRecordOfPythonsLines) {
  std::string archive = whole_shard().archive;
  const auto finds = [&] {
    caffe2::serialize::PyTorchStreamReader reader(std::make_shared<MemoryReader>(archive));
    EXPECT_TRUE(reader.hasRecord("code/__torch__.py"));
    return reader.hasRecord("code/__torch__.py.debug_pkl") ||
           reader.hasRecord("code/__torch__.PY.Debug_pkl");
  };
  ASSERT_TRUE(finds());
  ASSERT_TRUE(hide_debug_records(archive));
  EXPECT_FALSE(finds());
}

TEST(HostileArchives, AForgedRecordOfPythonsLinesIsNotRead) {
  plan::Shard shard = whole_shard();
  shard.archive = test::rewritten_archive(
      shard.archive, [](const std::string&) { return test::debug_pickle_out_of_bounds(); },
      ".debug_pkl");
  const auto loaded = test::load(shard);
  ASSERT_TRUE(loaded) << "an old coordinator sends such records: " << loaded.error().message;
  // LibTorch looks for the line of what it cannot parse.
  shard.archive = test::rewritten_archive(shard.archive, [](std::string code) {
    const std::size_t at = code.find("torch.relu(");
    EXPECT_NE(at, std::string::npos) << code;
    return code.insert(at, "1 1 ");
  });
  const auto refused = test::load(shard);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt) << refused.error().message;
}

TEST(HostileArchives, OtherFormatsAndStrangeRecordsAreRefused) {
  plan::Shard shard = whole_shard();
  const std::string good = shard.archive;
  for (const std::string& other : {std::string(), std::string("PTMF") + std::string(1000, '\0'),
                                   good.substr(0, good.size() / 2), good + good, "x" + good}) {
    shard.archive = other;
    const auto runner = test::load(shard);
    ASSERT_FALSE(runner);
    EXPECT_EQ(runner.error().code, ErrorCode::kCorrupt) << runner.error().message;
  }
  std::string with_more;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* bytes, std::size_t size) {
    with_more.append(static_cast<const char*>(bytes), size);
    return size;
  });
  writer.writeRecord("bytecode.pkl", "abc", 3);
  writer.writeEndOfFile();
  shard.archive = with_more;
  const auto runner = test::load(shard);
  ASSERT_FALSE(runner);
  EXPECT_THAT(runner.error().message, HasSubstr("no shard has a record \"bytecode.pkl\""));
}

}  // namespace
}  // namespace pareto::runtime
