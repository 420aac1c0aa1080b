#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "partitioner/graph/flat_graph.h"
#include "partitioner/graph/flatten.h"

namespace pareto::partitioner {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

/// The values of an object's attributes at one place of a graph.
using Attributes = std::map<std::string, Value*>;

bool is_attribute_of(const Node* node, const Value* object) {
  return (node->kind() == c10::prim::GetAttr || node->kind() == c10::prim::SetAttr) &&
         node->input(0) == object;
}

/// Whether an object is used for nothing but its attributes.
bool stays_here(const Value* object) {
  return std::ranges::all_of(object->uses(), [&](const torch::jit::Use& use) {
    return use.offset == 0 && is_attribute_of(use.user, object);
  });
}

/// Puts values in place of the attributes of one object.
class Scatterer {
 public:
  explicit Scatterer(Value* object)
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

  Value* object_;
  c10::ClassTypePtr type_;
};

/// Whether a block makes an object, uses its attributes, and hands it to the outside as its output.
bool makes(const Block* block, const Value* object) {
  return object->node()->kind() == c10::prim::CreateObject &&
         object->node()->owningBlock() == block &&
         std::ranges::all_of(object->uses(), [&](const torch::jit::Use& use) {
           return use.user == block->return_node() ||
                  (use.offset == 0 && is_attribute_of(use.user, object));
         });
}

/// Makes an object that both branches make after them, of the attributes that come out of the branches.
bool make_after_branches(Node* branch) {
  torch::jit::Graph& graph = *branch->owningGraph();
  for (std::size_t i = 0; i < branch->outputs().size(); ++i) {
    Value* object = branch->outputs()[i];
    const bool is_made = object->type()->kind() == c10::TypeKind::ClassType &&
                         std::ranges::all_of(branch->blocks(), [&](const Block* block) {
                           return makes(block, block->outputs()[i]);
                         });
    if (!is_made) continue;
    const auto type = object->type()->expect<c10::ClassType>();
    const torch::jit::WithInsertPoint after(branch->next());
    Node* fresh = graph.insertNode(graph.createObject(type));
    object->replaceAllUsesWith(fresh->output());
    for (const c10::ClassAttribute& attribute : type->getAttributes()) {
      for (Block* block : branch->blocks()) {
        const torch::jit::WithInsertPoint end(block->return_node());
        block->registerOutput(graph.insertGetAttr(block->outputs()[i], attribute.getName()));
      }
      Value* value = branch->addOutput()->setType(attribute.getType());
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
  return std::ranges::any_of(nodes_of_kind(graph.block(), c10::prim::If), make_after_branches);
}

}  // namespace

void scatter_objects(torch::jit::Graph& graph) {
  while (!nodes_of_kind(graph.block(), c10::prim::CreateObject).empty() && scatter_one(graph)) {
  }
}

Expected<> check_no_objects(torch::jit::Graph& graph) {
  const auto makers = nodes_of_kind(graph.block(), c10::prim::CreateObject);
  if (makers.empty()) return {};
  const Value* object = makers.front()->output();
  std::string user = "is kept";
  for (const torch::jit::Use& use : object->uses()) {
    if (use.offset == 0 && is_attribute_of(use.user, object)) continue;
    const auto kind = use.user->kind();
    user = kind == c10::prim::Return ? "comes out of a branch or a loop"
                                     : fmt::format("is used by {}", kind.toQualString());
  }
  return fail(ErrorCode::kInvalidArgument,
              "an object of class {} {}: an object can be cut only if nothing but its attributes "
              "is used; keep its tensors in variables, a tuple or a NamedTuple",
              object->type()->expect<c10::ClassType>()->name()->name(), user);
}

}  // namespace pareto::partitioner
