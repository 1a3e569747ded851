#include <algorithm>

#include "arch/vendor.h"
#include "base/demangle.h"
#include "driver/timing_analysis.h"
#include "report/json_parts.h"

namespace dsbuild {
namespace {

// Each text once, by its place.
class Strings {
 public:
  size_t place_of(const std::string& text) {
    const auto [found, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::string> texts_;
};

// ---- ops

std::string readable(const std::string& symbol) {
  constexpr size_t k_longest = 160, k_end = 40;
  std::string name = demangled(symbol);
  if (name.size() > k_longest)
    name = name.substr(0, k_longest - k_end) + " … " + name.substr(name.size() - k_end);
  return name;
}

Json targets_json(const ArchSet& set) {
  Json list = Json::array();
  for (const Target& target : set)
    list.push_back(target.text());
  return list;
}

// Symbol and bytes of machine code; the largest first.
using KernelSizes = std::vector<std::pair<std::string, uint64_t>>;

std::map<Target, KernelSizes> kernels_by_arch(const InventoryLibrary& library) {
  KernelTable table;
  for (const ImageKernels& image : library.kernels)
    table.add(image);
  std::map<Target, KernelSizes> found;
  for (const auto& [name, row] : table.rows())
    for (const auto& [target, bytes] : row.bytes_by_arch)
      found[target].emplace_back(name, bytes);
  for (auto& [target, kernels] : found)
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  return found;
}

Json images_json(const InventoryImages& images, const KernelSizes& all, size_t most_kernels, Strings& names) {
  Json kernels = Json::array();
  uint64_t other_bytes = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [symbol, bytes] = all[i];
    if (i < most_kernels)
      kernels.push_back(Json(std::vector<uint64_t>{names.place_of(readable(symbol)), bytes}));
    else
      other_bytes += bytes;
  }
  return {{"name", images.target.name()},
          {"count", images.count},
          {"bytes", images.bytes},
          {"kernels", kernels},
          {"other_kernels", all.size() - std::min(all.size(), most_kernels)},
          {"other_bytes", other_bytes}};
}

Json library_json(const InventoryLibrary& library, size_t most_kernels, Strings& names) {
  std::map<Target, KernelSizes> kernels = kernels_by_arch(library);
  Json images = Json::array();
  for (const InventoryImages& each : library.images)
    images.push_back(images_json(each, kernels[each.target], most_kernels, names));
  return {{"bytes", library.bytes}, {"host_bytes", library.host_bytes()}, {"images", images}};
}

Json dropped_json(const InventoryOp& op) {
  Json list = Json::array();
  for (const PlanDrop& drop : op.dropped)
    list.push_back({{"arch", drop.target.text()},
                    {"by", drop.reason.empty() ? "" : word(drop.by)},
                    {"reason", drop.reason}});
  return list;
}

Json gpus_json(const InventoryOp& op, const std::vector<Target>& gpus) {
  Json list = Json::array();
  for (const Target& gpu : gpus) {
    if (!op.library || op.library->images.empty()) {
      list.push_back(nullptr);
      continue;
    }
    const Coverage coverage = coverage_of_modules(op.library->modules, gpu);
    list.push_back(
        {{"runs", runs_word(coverage.runs, coverage.by)}, {"by", coverage.by ? coverage.by->name() : ""}});
  }
  return list;
}

// What it is sold as.
Json names_of(const Target& gpu) {
  Json names = Json::array();
  for (const ArchWord& name : gpu.vendor->gpu_names())
    if (name.meaning == gpu.text()) names.push_back(name.word);
  return names;
}

ArchSet all_targets(const Inventory& inventory) {
  ArchSet all = inventory.requested;
  for (const InventoryOp& op : inventory.ops)
    all.insert(op.archs.begin(), op.archs.end());
  return all;
}

// So that there are few thousands in all, however many images there are.
size_t kernels_of_image(const Inventory& inventory) {
  constexpr size_t k_in_all = 3000, k_least = 5, k_most = 40;
  size_t images = 0;
  for (const InventoryOp& op : inventory.ops)
    if (op.library) images += op.library->images.size();
  return std::clamp(k_in_all / std::max<size_t>(images, 1), k_least, k_most);
}

void add_ops(const Inventory& inventory, Json& page) {
  const std::vector<Target> gpus = parse_gpus("all", "", {}).value_or(std::vector<Target>{});
  const size_t most_kernels = kernels_of_image(inventory);
  Strings names;
  uint64_t bytes = 0;
  Json ops = Json::array();
  for (const InventoryOp& op : inventory.ops) {
    ops.push_back({{"name", op.name},
                   {"built", op.is_built},
                   {"reason", op.reason},
                   {"archs", targets_json(op.archs)},
                   {"extra", targets_json(difference(op.archs, inventory.shared))},
                   {"dropped", dropped_json(op)},
                   {"gpus", gpus_json(op, gpus)},
                   {"library", op.library ? library_json(*op.library, most_kernels, names) : Json(nullptr)}});
    if (op.library) bytes += op.library->bytes;
  }
  page["archs"] = Json::array();
  for (const Target& target : all_targets(inventory))
    page["archs"].push_back({{"text", target.text()}, {"name", target.name()}});
  page["gpus"] = Json::array();
  page["gpu_names"] = Json::array();
  for (const Target& gpu : gpus) {
    page["gpus"].push_back(gpu.text());
    page["gpu_names"].push_back(names_of(gpu));
  }
  page["ops"] = ops;
  page["names"] = names.texts();
  page["bytes"] = bytes;
  // Sources: the relocations R_X86_64_PC32 and their like hold 32 bits with a sign; PyPI's default limit of a
  // file is 100 MiB (its documentation, "Storage limits").
  page["limits"] = {{"relocation_bytes", uint64_t{2} << 30}, {"pypi_bytes", uint64_t{100} << 20}};
}

// ---- time

// When it waited for a core, and for memory.
std::pair<Json, Json> waits_json(const TimedEdge& edge) {
  std::pair<Json, Json> waits = {Json::array(), Json::array()};
  const auto add = [](Json& spans, Milliseconds begin, Milliseconds end) {
    if (end > begin) spans.push_back(Json(std::vector<uint64_t>{begin, end}));
  };
  for (const TimedTurn& turn : edge.turns) {
    add(waits.first, turn.asked, turn.asked + turn.for_core);
    add(waits.second, turn.asked + turn.for_core, turn.admitted);
  }
  return waits;
}

Json edges_json(const Timings& timings, Strings& strings) {
  static const std::vector<std::string> k_columns = {
      "op",  "source",  "part",       "kind",  "result", "ready",       "begin",
      "end", "threads", "peak_bytes", "waits", "needs",  "remote_miss", "core_waits"};
  Json rows = Json::array();
  for (const TimedEdge& edge : timings.edges) {
    Json row = Json::array();
    for (const std::string& text : {edge.op, edge.source, edge.arch_or_part(), edge.kind, result_word(edge)})
      row.push_back(strings.place_of(text));
    for (const uint64_t number :
         {edge.ready, edge.begin, edge.end, static_cast<uint64_t>(edge.threads), uint64_t{edge.peak_bytes}})
      row.push_back(number);
    const auto [for_core, for_memory] = waits_json(edge);
    row.push_back(for_memory);
    row.push_back(edge.needs);
    row.push_back(strings.place_of(edge.remote_miss));
    row.push_back(for_core);
    rows.push_back(row);
  }
  return {{"columns", k_columns}, {"rows", rows}};
}

// Cores in hundredths, as means over each step; memory as the most in it.
Json usage_json(const Timings& timings) {
  constexpr Milliseconds k_most_steps = 600;
  const Milliseconds step = timings.total / k_most_steps + 1;
  std::vector<uint64_t> begins(timings.total / step + 1), peaks(begins.size());
  std::vector<std::vector<uint64_t>> uses(5, begins);
  for (size_t i = 0; i < begins.size(); ++i)
    begins[i] = i * step;
  for (const CoreSpan& span : core_spans(timings)) {
    const CoreUse& cores = span.cores;
    const uint64_t values[] = {cores.busy, cores.memory, cores.jobs, cores.dependency, cores.finished};
    for (size_t i = span.begin / step; i < begins.size() && begins[i] < span.end; ++i) {
      const Milliseconds length = std::min(span.end, begins[i] + step) - std::max(span.begin, begins[i]);
      for (size_t use = 0; use < uses.size(); ++use)
        uses[use][i] += values[use] * length * 100 / step;
      peaks[i] = std::max<uint64_t>(peaks[i], span.peaks);
    }
  }
  return {{"step_ms", step}, {"begin_ms", begins},    {"busy", uses[0]},     {"memory", uses[1]},
          {"jobs", uses[2]}, {"dependency", uses[3]}, {"finished", uses[4]}, {"peak_bytes", peaks}};
}

Json time_json(const Timings& timings) {
  Strings strings;
  Json edges = edges_json(timings, strings);
  return {{"began", timings.began},
          {"total_ms", timings.total},
          {"succeeded", timings.succeeded},
          {"cores", timings.cores},
          {"jobs", timings.jobs},
          {"memory_bound_bytes", timings.memory_bound},
          {"planned_edges", timings.planned_edges},
          {"analysis", timing_analysis_json(timings)},
          {"usage", usage_json(timings)},
          {"remote", remote_spans_json(timings)},
          {"strings", strings.texts()},
          {"edges", std::move(edges)}};
}

// ---- what people ask first

Json slowest_json(const Timings& timings) {
  const std::vector<size_t> slowest = slowest_compiles(timings);
  if (slowest.empty()) return nullptr;
  const TimedEdge& edge = timings.edges[slowest.front()];
  return {
      {"op", edge.op}, {"source", edge.source}, {"part", edge.arch_or_part()}, {"worked_ms", edge.worked()}};
}

Json biggest_kernel_json(const Inventory& inventory) {
  Json biggest = nullptr;
  uint64_t most = 0;
  for (const InventoryOp& op : inventory.ops) {
    if (!op.library) continue;
    for (const auto& [target, kernels] : kernels_by_arch(*op.library)) {
      const auto& [symbol, bytes] = kernels.front();
      if (bytes <= most) continue;
      most = bytes;
      biggest = {{"op", op.name},
                 {"arch", target.name()},
                 {"name", readable(symbol)},
                 {"symbol", symbol},
                 {"bytes", bytes}};
    }
  }
  return biggest;
}

Json bound_json(const Timings& timings) {
  const TimingAnalysis analysis = analyse(timings);
  return {{"by", word(analysis.bound)},
          {"chain_ms", analysis.chain_time},
          {"work_ms", analysis.work_time},
          {"graph_ms", analysis.graph_time}};
}

Json facts_json(const Inventory& inventory) {
  auto facts = inventory.facts;
  if (inventory.timings) {
    const Timings& timings = *inventory.timings;
    facts.insert(facts.end(), {{"built", timings.began},
                               {"cores", std::to_string(timings.cores)},
                               {"edges at a time", std::to_string(timings.jobs)},
                               {"bound of memory", human_size(timings.memory_bound)}});
  }
  Json list = Json::array();
  for (const auto& [name, value] : facts)
    list.push_back(Json(std::vector<std::string>{name, value}));
  return list;
}

// In HTML's own text.
std::string escaped(std::string text) {
  for (const auto& [character, entity] :
       {std::pair("&", "&amp;"), std::pair("<", "&lt;"), std::pair(">", "&gt;")})
    text = replace_all(std::move(text), character, entity);
  return text;
}

}  // namespace

Json page_json(const Inventory& inventory) {
  Json page = json_document();
  page["title"] = Path(inventory.path).lexically_normal().string();
  page["kind"] = inventory.is_build ? "build" : "bundle";
  page["facts"] = facts_json(inventory);
  page["requested"] = arch_strings(inventory.requested);
  page["shared"] = arch_strings(inventory.shared);
  add_ops(inventory, page);
  page["timings"] = inventory.timings ? time_json(*inventory.timings) : Json(nullptr);
  page["answers"] = {{"slowest", inventory.timings ? slowest_json(*inventory.timings) : Json(nullptr)},
                     {"bound", inventory.timings ? bound_json(*inventory.timings) : Json(nullptr)},
                     {"biggest_kernel", biggest_kernel_json(inventory)}};
  page["warnings"] = warnings_json(inventory.warnings);
  return page;
}

// "</script>" and "<!--" would end the script that holds it; inside JSON's texts '<' may be written so.
std::string render_page_json(const Json& page) {
  return replace_all(json_line(page), "<", "\\u003c");
}

std::string render_page(const Json& page, const PageTemplate& parts) {
  const std::string* title = page.find("title")->text();
  const std::pair<std::string_view, std::string> places[] = {
      {"{{title}}", escaped(title ? visible(*title) : "")},
      {"{{css}}", parts.css},
      {"{{data}}", render_page_json(page)},
      {"{{js}}", parts.js}};
  std::string html;
  std::string_view left = parts.html;
  while (true) {
    const size_t at = left.find("{{");
    html += left.substr(0, at);
    if (at == std::string_view::npos) return html;
    left.remove_prefix(at);
    const auto place = std::find_if(std::begin(places), std::end(places),
                                    [&](const auto& each) { return left.starts_with(each.first); });
    const size_t length = place == std::end(places) ? 2 : place->first.size();
    html += place == std::end(places) ? "{{" : place->second;
    left.remove_prefix(length);
  }
}

}  // namespace dsbuild
