#include "driver/key_sketch.h"

#include <algorithm>

#include "base/build_layout.h"
#include "exec/action_key.h"
#include "exec/staleness.h"

namespace dsbuild {
namespace {

constexpr const char *k_sketch_version = "dsbuild-sketch 1", *k_edge_word = "edge", *k_part_word = "part",
                     *k_list_word = "list", *k_line_word = "line", *k_tools_part = "tools";

bool is_absent(const std::string& miss) {
  return miss.starts_with(k_nobody);
}

std::string sketch_name(const Plan& plan, const std::string& op) {
  return Key().add("sketch", k_sketch_version).add("pack", plan.registry().pack).add("op", op).digest();
}

// "<word> <rest>"
std::pair<std::string, std::string> first_word(const std::string& line) {
  const size_t space = line.find(' ');
  if (space == std::string::npos) return {line, ""};
  return {line.substr(0, space), line.substr(space + 1)};
}

size_t equal_parts(const Key& one, const Key& other) {
  return static_cast<size_t>(std::ranges::count_if(one.parts, [&](const KeyPart& part) {
    return std::ranges::find(other.parts, part) != other.parts.end();
  }));
}

class Sketcher {
 public:
  Sketcher(const Plan& plan, const BuildPlan& graph, Session& session)
      : plan_(plan),
        graph_(graph),
        files_(session.system.files),
        build_dir_(plan.settings().build_dir.value),
        cache_(files_, files_.absolute(plan.settings().local_cache.value), session.remote),
        lists_(files_, build_dir_, std::nullopt),
        staleness_(build_dir_, files_, session.digests, lists_) {
    for (const PlannedFile& file : graph.files)
      planned_[file.path] = &file.content;
  }

  void share(const std::string& op) {
    KeySketch sketch;
    for (const Edge& edge : graph_.edges) {
      if (edge.op != op || edge.is_link() || edge.kind == EdgeKind::verify) continue;
      const Key key = key_of(edge);
      for (const KeyPart& part : key.parts)
        if (part.name == k_tools_part) sketch.lists[part.value] = lists_.find(part.value).value_or("");
      sketch.edges.emplace(edge.output, key);
    }
    cache_.put_record(sketch_name(plan_, op), render_sketch(sketch));
  }

  // By output.
  std::map<std::string, std::string> nearest(const std::string& op, const RemoteMisses& misses) {
    const std::string name = sketch_name(plan_, op);
    (void)cache_.fetch_records(name);
    std::vector<KeySketch> sketches;
    for (const std::string& text : cache_.find_records(name))
      if (auto sketch = parse_sketch(text)) sketches.push_back(std::move(*sketch));
    std::map<std::string, std::string> found;
    if (sketches.empty()) return found;
    for (const Edge& edge : graph_.edges)
      if (misses.contains(edge.output) && !edge.is_link())
        found.emplace(edge.output, difference(edge, sketches));
    return found;
  }

 private:
  std::string difference(const Edge& edge, const std::vector<KeySketch>& sketches) {
    const Key now = key_of(edge);
    const Key* nearest = nullptr;
    bool is_lacking = false;
    for (const KeySketch& sketch : sketches) {
      const auto before = sketch.edges.find(edge.output);
      if (before == sketch.edges.end()) is_lacking = true;
      // It may have been built since, as here.
      if (before == sketch.edges.end() || before->second == now) continue;
      if (nearest && equal_parts(*nearest, now) >= equal_parts(before->second, now)) continue;
      nearest = &before->second;
      for (const auto& [name, text] : sketch.lists)
        (void)lists_.put(text);
    }
    if (!nearest) return is_lacking ? "others have built " + edge.op + ", without this file or arch" : "";
    Record record;
    record.key = *nearest;
    const auto change = staleness_.find_staleness(record, now);
    return change ? "from the nearest one there it differs so: " + change->text() : "";
  }

  Key key_of(const Edge& edge) {
    const auto read = [&](const std::string& path) -> std::optional<std::string> {
      const auto planned = planned_.find(path);
      return planned == planned_.end() ? std::nullopt : std::optional(*planned->second);
    };
    const Key key =
        action_key({step_words(graph_, edge), files_.absolute(build_dir_).string(), read}, lists_);
    for (const KeyPart& part : key.parts)
      if (part.name == k_command_part) return key.with(k_command_part, with_step_files(part.value));
    return key;
  }

  std::string with_step_files(const std::string& command) const {
    std::string text;
    for (const std::string& word : shell_split(command)) {
      const auto step = planned_.find(word);
      const bool is_step = word.starts_with(std::string(k_steps_folder) + "/") && step != planned_.end();
      text += (text.empty() ? "" : " ") +
              (is_step ? trim(replace_all(*step->second, "\n", " ")) : shell_quote(word));
    }
    return text;
  }

  const Plan& plan_;
  const BuildPlan& graph_;
  FileSystem& files_;
  const Path& build_dir_;
  TieredCache cache_;
  Lists lists_;
  Staleness staleness_;
  std::map<std::string, const std::string*> planned_;
};

}  // namespace

std::string render_sketch(const KeySketch& sketch) {
  std::string text = std::string(k_sketch_version) + "\n";
  for (const auto& [output, key] : sketch.edges) {
    text += std::string(k_edge_word) + " " + output + "\n";
    for (const KeyPart& part : key.parts)
      text += std::string(k_part_word) + " " + part.name + " " + replace_all(part.value, "\n", " ") + "\n";
  }
  for (const auto& [name, list] : sketch.lists) {
    text += std::string(k_list_word) + " " + name + "\n";
    for (const std::string& line : split_lines(list))
      text += std::string(k_line_word) + " " + line + "\n";
  }
  return text;
}

std::optional<KeySketch> parse_sketch(std::string_view text) {
  const std::vector<std::string> lines = split_lines(text);
  if (lines.empty() || lines.front() != k_sketch_version) return std::nullopt;
  KeySketch sketch;
  Key* key = nullptr;
  std::string* list = nullptr;
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto [word, rest] = first_word(lines[i]);
    if (word == k_edge_word) {
      key = &sketch.edges[rest];
    } else if (word == k_part_word && key) {
      const auto [name, value] = first_word(rest);
      key->add(name, value);
    } else if (word == k_list_word) {
      list = &sketch.lists[rest];
    } else if (word == k_line_word && list) {
      *list += rest + "\n";
    } else {
      return std::nullopt;
    }
  }
  return sketch;
}

void share_sketches(const RemoteMisses& misses, const Plan& plan, const BuildPlan& graph, Session& session) {
  if (!session.remote || !session.remote->uploads()) return;
  std::set<std::string> ops;
  for (const Edge& edge : graph.edges)
    if (const auto miss = misses.find(edge.output); miss != misses.end() && is_absent(miss->second))
      ops.insert(edge.op);
  if (ops.empty()) return;
  Sketcher sketcher(plan, graph, session);
  for (const std::string& op : ops)
    sketcher.share(op);
}

RemoteMisses with_nearest(RemoteMisses misses, const std::string& op, const Plan& plan, Session& session) {
  RemoteMisses absent;
  for (const Edge& edge : plan.graph.edges)
    if (const auto miss = misses.find(edge.output);
        edge.op == op && miss != misses.end() && is_absent(miss->second))
      absent.insert(*miss);
  if (!session.remote || absent.empty()) return misses;
  for (const auto& [output, difference] : Sketcher(plan, plan.graph, session).nearest(op, absent))
    if (!difference.empty()) misses[output] += "; " + difference;
  return misses;
}

}  // namespace dsbuild
