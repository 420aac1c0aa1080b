#include "core/wire/message_pool.h"

#include <memory>

namespace pareto::wire {

void MessagePool::put(Value value) {
  const auto put_all = [this](std::vector<Value>& items) {
    for (Value& item : items) put(std::move(item));
    values.put(std::move(items));
  };
  if (auto* tensor = value.get_if<Tensor>()) {
    shapes.put(std::move(*tensor).take_shape());
  } else if (auto* list = value.get_if<List>()) {
    put_all(list->items);
  } else if (auto* tuple = value.get_if<Tuple>()) {
    put_all(tuple->items);
  } else if (auto* dict = value.get_if<Dict>()) {
    for (auto& [key, item] : dict->items) {
      put(std::move(key));
      put(std::move(item));
    }
    pairs.put(std::move(dict->items));
  }
}

Message& Message::operator=(Message&& other) noexcept {
  if (this == &other) return *this;
  // What was here ends like any other message.
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

Message::~Message() {
  if (!pool) return;
  pool->timelines.put(std::move(timeline));
  pool->put(std::move(body));
}

}  // namespace pareto::wire
