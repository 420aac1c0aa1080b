// Scripted modules that nobody wrote: cut at every legal position, their parts compute the bits of
// the whole.
#include <gtest/gtest.h>

#include <random>

#include "partitioner/model/emit/verify.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

/// Writes a method line by line. All tensors are [batch, 4, 6], or [batch, 6, 4] where turned.
class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  torch::jit::Module module(int lines) {
    torch::manual_seed(random_());
    torch::jit::Module module("__torch__.Random");
    module.register_attribute("training", c10::BoolType::get(), false);
    for (const char* name : {"a", "b"})
      module.register_parameter(name, torch::randn({6, 6}), false);
    module.register_buffer("c", torch::randn({4, 6}));
    straight_ = {"x"};
    code_ = "\ndef forward(self, x):\n";
    for (int i = 0; i < lines; ++i) add_line();
    code_ += "    return " + any() + ", " + any() + " + 1, " + turned() + "\n";
    module.define(code_);
    return module;
  }
  const std::string& code() const { return code_; }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  const std::string& any() { return straight_[below(straight_.size())]; }
  std::string turned() {
    return turned_.empty() ? any() + ".transpose(1, 2)" : turned_[below(turned_.size())];
  }
  void line(const std::string& text) { code_ += "    " + text + "\n"; }
  std::string fresh() { return "v" + std::to_string(made_++); }
  void keep(const std::string& value) {
    const std::string name = fresh();
    line(name + " = " + value);
    straight_.push_back(name);
  }

  void add_line() {
    switch (below(16)) {
      case 0:
        return keep("torch.relu(" + any() + ")");
      case 1:
        return keep(any() + " * " + any() + " + 0.5");
      case 2:
        return keep("torch.matmul(" + any() + ", self." + (below(2) == 0 ? "a" : "b") + ")");
      case 3:
        return keep(any() + " + self.c");
      case 4: {
        const std::string name = fresh();
        line(name + " = " + any() + ".transpose(1, 2)");
        turned_.push_back(name);
        return;
      }
      case 5:
        return keep("torch.sigmoid(" + turned() + ").transpose(1, 2)");
      case 6:
        return keep("torch.cat([" + any() + "[:, 0:2], " + any() + "[:, 1:3]], 1)");
      case 7:
        return write_in_place();
      case 8: {
        const std::string list = fresh();
        line(list + " = [" + any() + ", " + any() + "]");
        return keep(list + "[0] - " + list + "[1]");
      }
      case 9: {
        const std::string dict = fresh();
        line(dict + " = {\"p\": " + any() + ", \"q\": " + any() + "}");
        return keep(dict + "[\"q\"] * 2 + " + dict + "[\"p\"]");
      }
      case 10: {
        const std::string sum = fresh();
        line(sum + " = " + any());
        line("for i in range(3):");
        line("    " + sum + " = " + sum + " * 0.5 + " + any());
        straight_.push_back(sum);
        return;
      }
      case 11: {
        const std::string name = fresh();
        line("if bool(" + any() + ".sum() > 0):");
        line("    " + name + " = " + any() + " - 1");
        line("else:");
        line("    " + name + " = torch.tanh(" + any() + ")");
        straight_.push_back(name);
        return;
      }
      case 12:
        return keep("torch.softmax(" + any() + ", " + std::to_string(1 + below(2)) + ")");
      case 13:
        return keep(any() + "[:, 0:1].expand([" + any() + ".size(0), 4, 6]) * 0.5");
      case 14:
        return keep("torch.chunk(" + any() + ", 2, 2)[1].repeat([1, 1, 2])");
      default:
        return keep("torch.matmul(torch.matmul(" + any() + ", " + turned() + "), " + any() + ")");
    }
  }

  /// Writes to a tensor that others may be views of.
  void write_in_place() {
    const std::string name = fresh();
    line(name + " = " + any() + " + 0");
    straight_.push_back(name);
    const std::string view = fresh();
    line(view + " = " + name + (below(2) == 0 ? "[:, 1:3]" : ".transpose(1, 2)"));
    if (below(2) == 0) keep(any() + " + 2");
    line(view + (below(2) == 0 ? ".mul_(2)" : ".clamp_(-1., 1.)"));
  }

  std::mt19937_64 random_;
  std::string code_;
  int made_ = 0;
  std::vector<std::string> straight_;
  std::vector<std::string> turned_;
};

class RandomModules : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomModules, testing::Range(1, 25));

TEST_P(RandomModules, CutAnywhereComputeTheSameBits) {
  Author author(static_cast<std::uint64_t>(GetParam()));
  const auto model = test::open(author.module(3 + GetParam() % 8), "4x6");
  ASSERT_TRUE(model) << model.error().message << author.code();
  VerifyOptions options;
  options.batches = {1, 5};
  options.runner.engine = "plain";
  for (std::size_t i = 0; i < model->split_points().size(); ++i) {
    if (model->split_points()[i].legal) options.cuts.push_back(cut_at(model->split_points()[i]));
  }
  if (options.cuts.empty()) return;
  const auto rows = verify(*model, options, nullptr);
  ASSERT_TRUE(rows) << rows.error().message << author.code();
  ASSERT_EQ(rows->size(), 2 * options.cuts.size());
  for (const VerifyRow& row : *rows) {
    EXPECT_TRUE(row.bit_equal) << options.cuts[row.cut].name << ", batch " << row.batch << ": "
                               << row.failure << author.code();
  }
}

TEST(RandomModules, AlmostAllMayBeCutSomewhere) {
  int cut = 0;
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    Author author(seed);
    const auto model = test::open(author.module(6), "4x6");
    ASSERT_TRUE(model) << model.error().message << author.code();
    cut += std::ranges::any_of(model->split_points(), &SplitPoint::legal) ? 1 : 0;
  }
  EXPECT_GE(cut, 8) << "else nothing was tested";
}

}  // namespace
}  // namespace pareto::model
