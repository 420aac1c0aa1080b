#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

/// The values of an object's attributes at one place of a graph.
using Attributes = std::map<std::string, jit::Value*>;

bool is_attribute_of(const Node* node, const jit::Value* object) {
  return (node->kind() == c10::prim::GetAttr || node->kind() == c10::prim::SetAttr) &&
         node->input(0) == object;
}

/// Returns whether an object is used for nothing but its attributes.
bool stays_here(const jit::Value* object) {
  return std::ranges::all_of(object->uses(), [&](const torch::jit::Use& use) {
    return use.offset == 0 && is_attribute_of(use.user, object);
  });
}

/// Puts values in place of the attributes of one object.
class Scatterer {
 public:
  explicit Scatterer(jit::Value* object)
      : object_(object), type_(object->type()->expect<c10::ClassType>()) {}

  void run() {
    Attributes attributes;
    for (Node* node = object_->node()->next(); node->kind() != c10::prim::Return;) {
      Node* const next = node->next();
      visit(node, attributes);
      node = next;
    }
    object_->node()->destroy();
  }

 private:
  void visit(Block* block, Attributes& attributes) {
    for (Node* node = *block->nodes().begin(); node->kind() != c10::prim::Return;) {
      Node* const next = node->next();
      visit(node, attributes);
      node = next;
    }
  }

  void visit(Node* node, Attributes& attributes) {
    if (is_attribute_of(node, object_)) {
      const std::string name = node->s(c10::attr::name);
      if (node->kind() == c10::prim::SetAttr) {
        attributes[name] = node->input(1);
      } else {
        const auto known = attributes.find(name);
        TORCH_CHECK(known != attributes.end(), "attribute ", name, " of an object of class ",
                    type_->name()->name(), " is read before it is set");
        node->output()->replaceAllUsesWith(known->second);
      }
      node->destroy();
    } else if (node->kind() == c10::prim::If) {
      visit_branches(node, attributes);
    } else if (node->kind() == c10::prim::Loop) {
      visit_loop(node, attributes);
    } else {
      for (Block* block : node->blocks()) visit(block, attributes);
    }
  }

  void visit_branches(Node* node, Attributes& attributes) {
    Attributes after[2] = {attributes, attributes};
    for (std::size_t i = 0; i < 2; ++i) visit(node->blocks()[i], after[i]);
    attributes.clear();
    for (const auto& [name, value] : after[0]) {
      const auto other = after[1].find(name);
      if (other == after[1].end()) continue;
      attributes[name] = value;
      if (other->second == value) continue;
      node->blocks()[0]->registerOutput(value);
      node->blocks()[1]->registerOutput(other->second);
      attributes[name] = node->addOutput()->setType(type_->getAttribute(name));
    }
  }

  void visit_loop(Node* node, Attributes& attributes) {
    Block* body = node->blocks()[0];
    std::unordered_set<std::string> set;
    for_each_node(body, [&](const Node* inner) {
      if (inner->kind() == c10::prim::SetAttr && inner->input(0) == object_) {
        set.insert(inner->s(c10::attr::name));
      }
    });
    Attributes inside = attributes;
    std::vector<std::string> carried;
    for (auto& [name, value] : inside) {
      if (!set.contains(name)) continue;
      node->addInput(value);
      value = body->addInput()->setType(type_->getAttribute(name));
      carried.push_back(name);
    }
    visit(body, inside);
    for (const std::string& name : carried) {
      body->registerOutput(inside.at(name));
      attributes[name] = node->addOutput()->setType(type_->getAttribute(name));
    }
  }

  jit::Value* object_;
  c10::ClassTypePtr type_;
};

bool is_inside(const Node* node, const Node* holder) {
  const Node* outer = node->owningBlock()->owningNode();
  return outer != nullptr && (outer == holder || is_inside(outer, holder));
}

/// Returns whether `last` hands an object on, once, and nobody else knows it afterwards: next to
/// that only its attributes are used, before `holder` or inside it. `last` is `holder`, or returns
/// from a block of it.
bool is_handed_on(const jit::Value* object, const Node* last, const Node* holder) {
  const Block* made_in = object->node()->owningBlock();
  if (made_in != last->owningBlock() && made_in != holder->owningBlock()) return false;
  int times = 0;
  for (const torch::jit::Use& use : object->uses()) {
    if (use.user == last) {
      ++times;
    } else if (use.offset != 0 || !is_attribute_of(use.user, object)) {
      return false;
    } else if (is_inside(use.user, holder) ? last == holder : !use.user->isBefore(holder)) {
      return false;
    }
  }
  return times == 1;
}

/// Hands the attributes of an object from one step of a loop to the next, in place of the object,
/// and makes it of them in each step and after the loop.
bool carry_attributes(Node* loop) {
  torch::jit::Graph& graph = *loop->owningGraph();
  Block* body = loop->blocks()[0];
  // A loop takes its greatest number of steps and whether to begin before what it carries.
  for (std::size_t i = 0; i < loop->outputs().size(); ++i) {
    jit::Value* before = loop->input(i + 2);
    const auto type = loop->output(i)->type()->cast<c10::ClassType>();
    if (type == nullptr || *before->type() != *type || !is_handed_on(before, loop, loop) ||
        body->outputs()[i + 1]->node()->owningBlock() != body ||
        !is_handed_on(body->outputs()[i + 1], body->return_node(), loop)) {
      continue;
    }
    Node* inside = graph.createObject(type)->insertBefore(*body->nodes().begin());
    Node* after = graph.createObject(type)->insertAfter(loop);
    body->inputs()[i + 1]->replaceAllUsesWith(inside->output());
    loop->output(i)->replaceAllUsesWith(after->output());
    for (const c10::ClassAttribute& attribute : type->getAttributes()) {
      const std::string& name = attribute.getName();
      {
        const torch::jit::WithInsertPoint here(loop);
        loop->addInput(graph.insertGetAttr(before, name));
      }
      {
        const torch::jit::WithInsertPoint end(body->return_node());
        body->registerOutput(graph.insertGetAttr(body->outputs()[i + 1], name));
      }
      jit::Value* step = body->addInput()->setType(attribute.getType());
      graph.createSetAttr(inside->output(), name, step)->insertAfter(inside);
      jit::Value* end = loop->addOutput()->setType(attribute.getType());
      graph.createSetAttr(after->output(), name, end)->insertAfter(after);
    }
    loop->removeInput(i + 2);
    body->eraseInput(i + 1);
    body->eraseOutput(i + 1);
    loop->eraseOutput(i);
    return true;
  }
  return false;
}

/// Makes an object that either branch hands on after them, of the attributes that come out of the
/// branches.
bool make_after_branches(Node* branch) {
  torch::jit::Graph& graph = *branch->owningGraph();
  for (std::size_t i = 0; i < branch->outputs().size(); ++i) {
    jit::Value* object = branch->outputs()[i];
    const auto type = object->type()->cast<c10::ClassType>();
    const bool is_made =
        type != nullptr && std::ranges::all_of(branch->blocks(), [&](const Block* block) {
          const jit::Value* made = block->outputs()[i];
          return *made->type() == *type && is_handed_on(made, block->return_node(), branch);
        });
    if (!is_made) continue;
    const torch::jit::WithInsertPoint after(branch->next());
    Node* fresh = graph.insertNode(graph.createObject(type));
    object->replaceAllUsesWith(fresh->output());
    for (const c10::ClassAttribute& attribute : type->getAttributes()) {
      for (Block* block : branch->blocks()) {
        const torch::jit::WithInsertPoint end(block->return_node());
        block->registerOutput(graph.insertGetAttr(block->outputs()[i], attribute.getName()));
      }
      jit::Value* value = branch->addOutput()->setType(attribute.getType());
      graph.insertNode(graph.createSetAttr(fresh->output(), attribute.getName(), value));
    }
    for (Block* block : branch->blocks()) block->eraseOutput(i);
    branch->eraseOutput(i);
    return true;
  }
  return false;
}

bool scatter_one(torch::jit::Graph& graph) {
  for (Node* node : nodes_of_kind(graph.block(), c10::prim::CreateObject)) {
    if (!stays_here(node->output())) continue;
    Scatterer(node->output()).run();
    return true;
  }
  return std::ranges::any_of(nodes_of_kind(graph.block(), c10::prim::If), make_after_branches) ||
         std::ranges::any_of(nodes_of_kind(graph.block(), c10::prim::Loop), carry_attributes);
}

/// Returns "encoder, code/__torch__/model.py:17": where a node stands in the modules and in the
/// code of its file.
std::string place_of(Node* node) {
  const std::string path = scope_path(node);
  std::string place = path.empty() ? "the model" : path;
  if (const auto line = runtime::to_std(node->sourceRange().file_line_col())) {
    place += fmt::format(", {}:{}", std::get<0>(*line), std::get<1>(*line));
  }
  return place;
}

}  // namespace

void scatter_objects(torch::jit::Graph& graph) {
  while (!nodes_of_kind(graph.block(), c10::prim::CreateObject).empty() && scatter_one(graph)) {
  }
}

Expected<> check_no_objects(torch::jit::Graph& graph) {
  const auto makers = nodes_of_kind(graph.block(), c10::prim::CreateObject);
  if (makers.empty()) return {};
  const jit::Value* object = makers.front()->output();
  std::string user = "is kept";
  for (const torch::jit::Use& use : object->uses()) {
    if (use.offset == 0 && is_attribute_of(use.user, object)) continue;
    const auto kind = use.user->kind();
    user = kind == c10::prim::Return ? "comes out of a branch or a loop"
                                     : fmt::format("is used by {}", kind.toQualString());
  }
  return fail(ErrorCode::kInvalidArgument,
              "an object of class {} (made in {}) {}: an object can be cut only if nothing but its "
              "attributes is used; keep its tensors in variables, a tuple or a NamedTuple",
              object->type()->expect<c10::ClassType>()->name()->name(), place_of(makers.front()),
              user);
}

}  // namespace pareto::model
