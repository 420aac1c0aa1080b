// A steady stream of messages over tcp takes nothing from the heap: counted, in a program of its
// own, at the C library's entry points.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <latch>
#include <semaphore>
#include <vector>

#include "core/base/bounded_queue.h"
#include "tests/core/transport/fixture.h"

// glibc's own names for what this program replaces; operator new ends there too.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

// Constant-initialised: the loader allocates before any constructor runs.
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void note_allocation() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
}
void start_counting() {
  allocations = 0;
  counting = true;
}
int stop_counting() {
  counting = false;
  return allocations;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) {
  note_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  note_allocation();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  note_allocation();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace pareto::transport {
namespace {

constexpr int kWindow = 4;
/// A stage may not have let go yet of what the sink is done with.
constexpr int kHeldBack = kWindow + 1;
constexpr int kWarmUp = 5 * kWindow;
constexpr int kCounted = 400;

/// Makes a message of `tensors` float tensors, the first small, the last of some pages, and the
/// times of three stages.
wire::Message message_with(int tensors) {
  Tuple body;
  for (int i = 0; i < tensors; ++i) {
    body.items.emplace_back(must(Tensor::allocate(DType::kFloat32, {1, 8, 1 << (5 + 5 * i)})));
  }
  wire::Message message;
  message.timeline.resize(3);
  message.body = std::move(body);
  return message;
}

/// Opens one connection of tcp, from its sending to its receiving end.
Pair open_tcp() {
  const auto tcp = must(make_transport("tcp"));
  const auto listener = must(tcp->listen("127.0.0.1:0"));
  auto client = must(tcp->connect(listener->address(), soon()));
  return {std::move(client), must(listener->accept(soon()))};
}

using Queue = BoundedQueue<wire::Message>;
/// The function of a stage on its n-th message.
using Work = std::function<void(wire::Message&, int)>;

/// source ═tcp═▶ receive ─queue─▶ work, send ═tcp═▶ sink, a thread each; at most kWindow messages
/// on the way. Returns how often the heap was asked for memory during the last kCounted of them.
int allocations_in_pipeline(const wire::Message& message, const Work& work) {
  constexpr int kAll = kWarmUp + kCounted;
  const Pair first = open_tcp();
  const Pair second = open_tcp();
  Queue queue(kHeldBack);
  std::counting_semaphore<> window(kHeldBack);
  // The first are held back in the queue, then at the sink: no later moment needs more memory than
  // these.
  std::latch held_in_queue(kHeldBack);

  const std::jthread source([&] {
    for (int i = 0; i < kAll; ++i) {
      ASSERT_TRUE(window.try_acquire_for(std::chrono::seconds(60)));
      ASSERT_TRUE(first.client->send(message, soon()));
    }
  });
  const std::jthread receiving([&] {
    for (int i = 0; i < kAll; ++i) {
      ASSERT_TRUE(queue.push(must(first.server->receive(soon())).message, soon()));
      if (i < kHeldBack) held_in_queue.count_down();
    }
  });
  const std::jthread working([&] {
    held_in_queue.wait();
    for (int i = 0; i < kAll; ++i) {
      wire::Message passing = must(queue.pop(soon()));
      work(passing, i);
      ASSERT_TRUE(second.client->send(passing, soon()));
    }
  });

  std::vector<wire::Message> held_at_sink;
  for (int i = 0; i < kAll; ++i) {
    if (i == kWarmUp) start_counting();
    wire::Message result = must(second.server->receive(soon())).message;
    EXPECT_EQ(result.timeline.size(), message.timeline.size() + 1);
    if (i < kHeldBack) {
      held_at_sink.push_back(std::move(result));
      if (i + 1 < kHeldBack) continue;
      held_at_sink.clear();
      window.release(kWindow);
      continue;
    }
    result = wire::Message();
    window.release();
  }
  return stop_counting();
}

class Allocations : public testing::TestWithParam<int> {};

TEST_P(Allocations, AMessagePassedOnTakesNone) {
  const Work pass_on = [](wire::Message& message, int) { message.timeline.emplace_back(); };
  EXPECT_EQ(allocations_in_pipeline(message_with(GetParam()), pass_on), 0);
}

TEST_P(Allocations, AMessageWhoseValuesAStageReplacesTakesNoneButTheStages) {
  const wire::Message message = message_with(GetParam());
  // Made before: what a stage's engine allocates is not the link's.
  std::vector<Value> results(kWarmUp + kCounted, message.body);
  const Work replace = [&](wire::Message& passing, int i) {
    const std::vector<Value> inputs = std::move(passing.body.get_if<Tuple>()->items);
    EXPECT_EQ(inputs.size(), static_cast<std::size_t>(GetParam()));
    passing.body = std::move(results[static_cast<std::size_t>(i)]);
    passing.timeline.emplace_back();
  };
  EXPECT_EQ(allocations_in_pipeline(message, replace), 0);
}

INSTANTIATE_TEST_SUITE_P(Tensors, Allocations, testing::Values(1, 3));

TEST(Allocations, AreCounted) {
  start_counting();
  const auto tensor = Tensor::allocate(DType::kFloat32, {1000});
  EXPECT_GE(stop_counting(), 2) << "the tensor's memory and its reference count";
}

}  // namespace
}  // namespace pareto::transport
