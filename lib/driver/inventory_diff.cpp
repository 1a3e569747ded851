#include "driver/inventory_diff.h"

#include <algorithm>
#include <set>

namespace dsbuild {
namespace {

constexpr const char* k_absent = "not there";

// Images of one arch.
struct Stored {
  size_t count = 0;
  uint64_t bytes = 0;
};

class Comparison {
 public:
  Comparison(const Inventory& before, const Inventory& after) : before_(before), after_(after) {}

  InventoryDiff run() {
    compare_facts();
    note("", "requested", arch_text(before_.requested), arch_text(after_.requested));
    note("", "shared", arch_text(before_.shared), arch_text(after_.shared));
    for (const std::string& name : names_of(before_.ops, after_.ops, &InventoryOp::name))
      compare_ops(name, before_.find(name), after_.find(name));
    if (before_.timings && after_.timings) compare_times(*before_.timings, *after_.timings);
    return std::move(diff_);
  }

 private:
  void note(const std::string& op, const std::string& what, std::string before, std::string after) {
    if (before != after) diff_.changes.push_back({op, what, std::move(before), std::move(after)});
  }

  // Of both lists, in their order.
  template <class Item, class Member>
  static std::vector<std::string> names_of(const std::vector<Item>& a, const std::vector<Item>& b,
                                           Member Item::* name) {
    std::set<std::string> names;
    for (const auto* list : {&a, &b})
      for (const Item& item : *list)
        names.insert(item.*name);
    return {names.begin(), names.end()};
  }

  void compare_facts() {
    using Fact = std::pair<std::string, std::string>;
    const auto value = [](const Inventory& inventory, const std::string& name) -> std::string {
      for (const auto& [fact, text] : inventory.facts)
        if (fact == name) return text;
      return "";
    };
    // What is known when libraries are there, a build's plan does not say.
    static const std::set<std::string> k_of_bundles = {"tvm-ffi", "torch"};
    const bool both_alike = before_.is_build == after_.is_build;
    for (const std::string& name : names_of(before_.facts, after_.facts, &Fact::first))
      if (both_alike || k_of_bundles.count(name) == 0)
        note("", name, value(before_, name), value(after_, name));
  }

  void compare_ops(const std::string& name, const InventoryOp* a, const InventoryOp* b) {
    const auto state = [](const InventoryOp* op) -> std::string {
      if (!op) return k_absent;
      return op->is_built ? "built" : "not built: " + op->reason;
    };
    note(name, "op", state(a), state(b));
    if (!a || !b || !a->is_built || !b->is_built) return;
    note(name, "archs", arch_text(a->archs), arch_text(b->archs));
    compare_lists(name, "export", a->exports, b->exports);
    compare_lists(name, "needs", a->needs, b->needs);
    compare_lists(name, "feature", a->features_off, b->features_off);
    compare_sources(name, *a, *b);
    compare_libraries(name, a->library, b->library);
    if (!before_.is_build && !after_.is_build) compare_lists(name, "runtime", a->runtime, b->runtime);
    if (!before_.is_build || !after_.is_build) return;
    compare_dropped(name, *a, *b);
    compare_flags(name, "link flags", a->link_flags, b->link_flags);
  }

  void compare_lists(const std::string& op, const std::string& what, const std::vector<std::string>& a,
                     const std::vector<std::string>& b) {
    const std::set<std::string> before(a.begin(), a.end()), after(b.begin(), b.end());
    for (const std::string& each : before)
      if (after.count(each) == 0) note(op, what, each, k_absent);
    for (const std::string& each : after)
      if (before.count(each) == 0) note(op, what, k_absent, each);
  }

  // The words that only one has; all of them, where that is the order alone.
  void compare_flags(const std::string& op, const std::string& what, const std::vector<std::string>& a,
                     const std::vector<std::string>& b) {
    if (a == b) return;
    const auto without = [](std::vector<std::string> words, const std::vector<std::string>& others) {
      for (const std::string& other : others)
        if (const auto found = std::find(words.begin(), words.end(), other); found != words.end())
          words.erase(found);
      return words;
    };
    const std::vector<std::string> gone = without(a, b), come = without(b, a);
    if (gone.empty() && come.empty())
      note(op, what, join(a, " "), join(b, " "));
    else
      note(op, what, join(gone, " "), join(come, " "));
  }

  void compare_sources(const std::string& op, const InventoryOp& a, const InventoryOp& b) {
    const auto find = [](const InventoryOp& in, const std::string& path) -> const InventorySource* {
      for (const InventorySource& source : in.sources)
        if (source.path == path) return &source;
      return nullptr;
    };
    const auto digest = [](const InventorySource* source) {
      return source ? "SHA-256 " + source->sha256.substr(0, 12) : k_absent;
    };
    for (const std::string& path : names_of(a.sources, b.sources, &InventorySource::path)) {
      const InventorySource *before = find(a, path), *after = find(b, path);
      note(op, "source " + path, digest(before), digest(after));
      if (!before || !after) continue;
      note(op, "archs of " + path, arch_text(before->archs), arch_text(after->archs));
      if (before_.is_build && after_.is_build)
        compare_flags(op, "flags of " + path, before->flags, after->flags);
    }
  }

  void compare_dropped(const std::string& op, const InventoryOp& a, const InventoryOp& b) {
    const auto texts = [](const InventoryOp& in) {
      std::vector<std::string> all;
      for (const PlanDrop& drop : in.dropped)
        all.push_back(drop.target.text() + " (" + word(drop.by) + ": " + drop.reason + ")");
      return all;
    };
    compare_lists(op, "dropped", texts(a), texts(b));
  }

  void compare_libraries(const std::string& op, const std::optional<InventoryLibrary>& a,
                         const std::optional<InventoryLibrary>& b) {
    if (!a || !b) {
      note(op, "library", a ? "there" : k_absent, b ? "there" : k_absent);
      return;
    }
    const size_t changes = diff_.changes.size();
    note(op, "bytes", std::to_string(a->bytes), std::to_string(b->bytes));
    std::map<Target, std::pair<Stored, Stored>> images;
    for (const InventoryImages& each : a->images)
      images[each.target].first = {each.count, each.bytes};
    for (const InventoryImages& each : b->images)
      images[each.target].second = {each.count, each.bytes};
    for (const auto& [target, both] : images) {
      const auto& [before, after] = both;
      note(op, "images of " + target.name(), std::to_string(before.count), std::to_string(after.count));
      note(op, "bytes of " + target.name(), std::to_string(before.bytes), std::to_string(after.bytes));
    }
    note(op, "bytes of host code", std::to_string(a->host_bytes()), std::to_string(b->host_bytes()));
    if (diff_.changes.size() == changes)
      note(op, "content", "SHA-256 " + a->sha256.substr(0, 12), "SHA-256 " + b->sha256.substr(0, 12));
  }

  void compare_times(const Timings& a, const Timings& b) {
    diff_.times.push_back({"", a.total, b.total});
    std::map<std::string, InventoryTime> by_op;
    for (const auto* timings : {&a, &b})
      for (const TimedEdge& edge : timings->edges) {
        InventoryTime& time = by_op[edge.op];
        time.op = edge.op;
        (timings == &a ? time.before : time.after) += edge.worked();
      }
    for (const auto& [op, time] : by_op)
      diff_.times.push_back(time);
  }

  const Inventory &before_, &after_;
  InventoryDiff diff_;
};

}  // namespace

InventoryDiff compare(const Inventory& before, const Inventory& after) {
  return Comparison(before, after).run();
}

}  // namespace dsbuild
