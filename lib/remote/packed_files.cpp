#include "remote/packed_files.h"

#include <algorithm>
#include <utility>

#include "base/compress.h"
#include "base/digest.h"

namespace dsbuild {
namespace {

constexpr size_t k_most_contents = 4096;  // packed
// Smaller files have too few features.
constexpr size_t k_least_similar_bytes = 4096;
constexpr size_t k_most_bases = 16, k_most_depth = 16;
constexpr size_t k_most_kept_bytes = size_t{256} << 20;
// What an entry claims before it was seen. No output is as large.
constexpr uint64_t k_most_bytes = uint64_t{1} << 30;

}  // namespace

// What follows is nearest to the file in the compressor's window, so the most similar comes last.
std::vector<std::string> FilePacker::bases_of(const std::string& bytes, const Features& features) const {
  std::vector<std::string> bases;
  size_t left = k_most_prefixed_bytes - std::min(bytes.size() + 1, k_most_prefixed_bytes);
  for (const std::string& digest : similar_.find(features, k_most_bases)) {
    const auto base = files_.find(digest);
    if (base == files_.end() || base->second.depth >= k_most_depth || base->second.output.file.bytes > left)
      continue;
    left -= base->second.output.file.bytes;
    bases.push_back(digest);
  }
  std::ranges::reverse(bases);
  return bases;
}

std::optional<FilePacker::Packed> FilePacker::pack(const std::string& digest, const std::string& bytes,
                                                   Bases bases) {
  Known known;
  known.output.file = {"", digest, bytes.size()};
  RemoteOutput& output = known.output;
  Features features;
  if (bases == Bases::any && bytes.size() >= k_least_similar_bytes) {
    features = features_of(bytes);
    output.bases = bases_of(bytes, features);
  }
  std::string prefix;
  for (const auto& base : here_.find(output.bases)) {
    if (!base) return std::nullopt;
    prefix += *base;
  }
  auto packed = compress_tightly(bytes, prefix);
  if (!packed) return std::nullopt;
  output.digest = sha256(*packed);
  output.bytes = packed->size();
  known.is_there = contents_ && packed->size() <= k_most_contents;
  if (known.is_there) output.contents = std::exchange(*packed, "");
  for (const std::string& base : output.bases)
    known.depth = std::max(known.depth, files_.at(base).depth + 1);
  similar_.add(digest, features);
  return Packed{files_.insert_or_assign(digest, std::move(known)).first->second.output, std::move(*packed)};
}

void FilePacker::end_put(const std::string& digest, bool is_there) {
  if (is_there)
    files_.at(digest).is_there = true;
  else
    files_.erase(digest);
}

std::optional<RemoteEntry> FilePacker::entry_of(const std::vector<CachedFile>& files) const {
  RemoteEntry entry;
  std::vector<std::string> bases;
  std::set<std::string> names;
  const auto add_output = [&](const CachedFile& file) {
    const auto known = files_.find(file.digest);
    if (known == files_.end() || !known->second.is_there) return false;
    if (!names.insert(file.name).second) return true;
    RemoteOutput output = known->second.output;
    output.file.name = file.name;
    output.file.milliseconds = file.milliseconds;
    bases.insert(bases.end(), output.bases.begin(), output.bases.end());
    entry.push_back(std::move(output));
    return true;
  };
  for (const CachedFile& file : files)
    if (!add_output(file)) return std::nullopt;
  while (!bases.empty()) {
    const std::string digest = std::move(bases.back());
    bases.pop_back();
    if (!add_output({base_name(digest), digest})) return std::nullopt;
  }
  return entry;
}

void FileUnpacker::add(const RemoteEntry& entry) {
  for (const RemoteOutput& output : entry) {
    outputs_.emplace(output.file.digest, output);
    bases_.insert(output.bases.begin(), output.bases.end());
    if (!is_base(output)) targets_.insert(output.file.digest);
  }
}

bool FileUnpacker::is_here(const std::string& digest) {
  const auto [known, is_new] = is_here_.try_emplace(digest);
  if (is_new) known->second = here_.has({digest}).front();
  return known->second;
}

// false: it cannot be had.
bool FileUnpacker::want(const std::string& digest, size_t depth, std::set<std::string>& wanted) {
  if (is_here(digest) || wanted.contains(digest)) return true;
  const auto output = outputs_.find(digest);
  if (output == outputs_.end() || depth > k_most_depth || output->second.file.bytes > k_most_bytes)
    return false;
  const bool has_bases = std::ranges::all_of(
      output->second.bases, [&](const std::string& base) { return want(base, depth + 1, wanted); });
  if (has_bases) wanted.insert(digest);
  return has_bases;
}

std::vector<RemoteOutput> FileUnpacker::missing() {
  std::set<std::string> wanted;
  for (const std::string& digest : targets_)
    (void)want(digest, 0, wanted);
  std::vector<RemoteOutput> outputs;
  for (const std::string& digest : wanted)
    if (const RemoteOutput& output = outputs_.at(digest); output.contents.empty())
      outputs.push_back(output);
    else
      packed_[digest] = output.contents;
  return outputs;
}

std::optional<std::string> FileUnpacker::prefix_of(const RemoteOutput& output, size_t depth) {
  std::string prefix;
  for (const std::string& base : output.bases) {
    const auto bytes = unpack(base, depth + 1) ? bytes_of_base(base) : std::nullopt;
    if (!bytes || bytes->size() > k_most_prefixed_bytes - std::min(prefix.size(), k_most_prefixed_bytes))
      return std::nullopt;
    prefix += *bytes;
  }
  return prefix;
}

std::optional<std::string> FileUnpacker::bytes_of_base(const std::string& digest) {
  if (const auto kept = kept_bases_.find(digest); kept != kept_bases_.end()) return kept->second;
  auto bytes = here_.find({digest}).front();
  if (bytes) keep_base(digest, *bytes);
  return bytes;
}

void FileUnpacker::keep_base(const std::string& digest, const std::string& bytes) {
  if (!bases_.contains(digest) || bytes.size() > k_most_kept_bytes - kept_bytes_) return;
  if (kept_bases_.emplace(digest, bytes).second) kept_bytes_ += bytes.size();
}

bool FileUnpacker::unpack(const std::string& digest, size_t depth) {
  if (is_here(digest)) return true;
  const auto packed = packed_.extract(digest);
  if (!packed || depth > k_most_depth) return false;
  const RemoteOutput& output = outputs_.at(digest);
  const auto prefix = prefix_of(output, depth);
  if (!prefix) return false;
  const auto bytes = decompress(packed.mapped(), output.file.bytes, *prefix);
  const bool is_it = bytes && sha256(*bytes) == digest;
  if (!is_it) damaged_.insert(digest);
  is_here_[digest] = is_it && here_.put(digest, *bytes);
  if (is_here_[digest]) keep_base(digest, *bytes);
  return is_here_[digest];
}

std::set<std::string> FileUnpacker::unpack() {
  std::set<std::string> here;
  for (const std::string& digest : targets_)
    if (unpack(digest, 0)) here.insert(digest);
  return here;
}

}  // namespace dsbuild
