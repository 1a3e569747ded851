#include "bundle/bundle.h"

#include <algorithm>

namespace dsbuild {
namespace {

constexpr const char* k_inner_staging = ".dsbuild-staging";

Path staging_beside(const Path& out) {
  return out.parent_path() / ("." + out.filename().string() + k_inner_staging);
}

// A publication under way. Nothing in it has been written yet.
struct Publication {
  Path out;  // without symbolic links, so that an exchange swaps the folder and not a link to it
  const std::vector<BundleFile>& libraries;
  std::string manifest;
  const std::string& statement;
  FileSystem& files;

  Path parent() const { return out.parent_path(); }
  Path staging_beside() const { return dsbuild::staging_beside(out); }
  Path staging_inside() const { return out / k_inner_staging; }
};

std::vector<std::string> file_names(const Publication& work) {
  std::vector<std::string> names{k_manifest_name};
  if (!work.statement.empty()) names.emplace_back(k_statement_name);
  for (const BundleFile& library : work.libraries)
    names.push_back(library.name);
  std::ranges::sort(names);
  return names;
}

Path resolved(const Path& out, const FileReader& files) {
  Path path = files.real_path(out).value_or(files.absolute(out).lexically_normal());
  return path.has_filename() ? path : path.parent_path();
}

// Names in the published folder, without a staging folder; none when there is no folder.
Result<std::vector<std::string>> published_names(const Publication& work) {
  if (work.files.kind(work.out) == FileKind::absent) return std::vector<std::string>{};
  DSBUILD_TRY(names, work.files.list(work.out));
  std::erase(names, k_inner_staging);
  return names;
}

Result<bool> holds_library(const Publication& work, const BundleFile& library, DigestMemo& digests) {
  const auto built = work.files.identity(library.from);
  const auto published = work.files.identity(work.out / library.name);
  if (!built || !published || built->size != published->size) return false;
  DSBUILD_TRY(built_digest, digests.digest(library.from));
  DSBUILD_TRY(published_digest, digests.digest(work.out / library.name));
  return built_digest == published_digest;
}

// How much of the new bundle is there.
enum class Published { otherwise, without_statement, all };

// The names of a bundle but those of its provenance.
std::vector<std::string> without_provenance(std::vector<std::string> names) {
  std::erase_if(names,
                [](const std::string& name) { return name == k_statement_name || name == k_signature_name; });
  return names;
}

Result<Published> how_published(const Publication& work, const std::vector<std::string>& names,
                                DigestMemo& digests) {
  if (without_provenance(names) != without_provenance(file_names(work))) return Published::otherwise;
  DSBUILD_TRY(manifest, work.files.read_file(work.out / k_manifest_name));
  if (manifest != work.manifest) return Published::otherwise;
  for (const BundleFile& library : work.libraries) {
    DSBUILD_TRY(same, holds_library(work, library, digests));
    if (!same) return Published::otherwise;
  }
  const auto statement = work.files.read_file(work.out / k_statement_name);
  return (statement ? *statement : "") == work.statement ? Published::all : Published::without_statement;
}

// A reader finds the bundle without a statement, or without its signature, for a moment.
Result<void> replace_statement(const Publication& work) {
  DSBUILD_CHECK(work.files.remove_all(work.out / k_signature_name));
  if (work.statement.empty()) return work.files.remove_all(work.out / k_statement_name);
  return work.files.write_file(work.out / k_statement_name, work.statement, true);
}

unsigned long long total_bytes(const Publication& work) {
  unsigned long long bytes = work.manifest.size() + work.statement.size();
  for (const BundleFile& library : work.libraries) {
    if (const auto identity = work.files.identity(library.from)) bytes += identity->size;
  }
  return bytes;
}

// What killed runs left. A staging folder inside a folder without manifest stays for now: it is the only sign
// that the folder is ours.
Result<void> sweep(const Publication& work) {
  if (work.files.kind(work.staging_beside()) != FileKind::absent) {
    DSBUILD_CHECK(work.files.remove_all(work.staging_beside()));
  }
  const bool has_leftover = work.files.kind(work.staging_inside()) != FileKind::absent;
  const bool has_manifest = work.files.kind(work.out / k_manifest_name) == FileKind::file;
  return has_leftover && has_manifest ? work.files.remove_all(work.staging_inside()) : Result<void>{};
}

Result<void> copy_all(const Publication& work, const Path& staging) {
  for (const BundleFile& library : work.libraries) {
    DSBUILD_CHECK(work.files.copy_file(library.from, staging / library.name, true));
  }
  if (!work.statement.empty())
    DSBUILD_CHECK(work.files.write_file(staging / k_statement_name, work.statement, true));
  DSBUILD_CHECK(work.files.write_file(staging / k_manifest_name, work.manifest, true));
  return work.files.sync_directory(staging);
}

// Everything of the new bundle, on the disk for good. A disk that is full gets its space back.
Result<void> fill_staging(const Publication& work, const Path& staging) {
  auto filled = copy_all(work, staging);
  if (filled) return filled;
  const auto swept = sweep(work);
  static_cast<void>(swept);  // the next run sweeps what could not be removed now
  return filled;
}

// The files of a folder that cannot be swapped, one by one. The manifest goes first and comes back last, so
// that no mixture ever looks like a bundle; until then the staging folder marks the folder as ours.
Result<void> publish_inside(const Publication& work, const std::vector<std::string>& old_names) {
  const Path staging = work.staging_inside();
  DSBUILD_CHECK(work.files.make_empty_directory(staging));
  DSBUILD_CHECK(fill_staging(work, staging));
  DSBUILD_CHECK(work.files.remove_all(work.out / k_manifest_name));
  DSBUILD_CHECK(work.files.sync_directory(work.out));
  const std::vector<std::string> names = file_names(work);
  for (const std::string& name : old_names) {
    if (!std::ranges::binary_search(names, name)) DSBUILD_CHECK(work.files.remove_all(work.out / name));
  }
  for (const std::string& name : names) {
    if (name != k_manifest_name) DSBUILD_CHECK(work.files.rename(staging / name, work.out / name));
  }
  DSBUILD_CHECK(work.files.sync_directory(work.out));
  DSBUILD_CHECK(work.files.rename(staging / k_manifest_name, work.out / k_manifest_name));
  DSBUILD_CHECK(work.files.sync_directory(work.out));
  return work.files.remove_all(staging);
}

// Puts the staged folder in place in one step. The value says whether that was possible here.
Result<bool> swap_in(const Publication& work) {
  const Path staging = work.staging_beside();
  if (work.files.kind(work.out) == FileKind::absent) {
    DSBUILD_CHECK(work.files.rename(staging, work.out));
    return true;
  }
  const auto exchanged = work.files.exchange(staging, work.out);
  if (exchanged) return true;
  if (exchanged.error().code == "cannot_exchange") return false;
  return tl::unexpected<Error>(exchanged.error());
}

// After the swap the new bundle is complete: what is left of the old one is only untidy.
void remove_old(const Publication& work, Bundle& bundle) {
  const auto removed = work.files.remove_all(work.staging_beside());
  if (removed) return;
  bundle.warnings.push_back(warning("old_bundle_left", work.staging_beside().string(),
                                    "the previous bundle could not be removed: " + removed.error().what,
                                    "The next build removes it."));
}

// Whether the new bundle could be staged beside `out` and put in place in one step.
Result<bool> publish_beside(const Publication& work, Bundle& bundle) {
  const auto made = work.files.make_directories(work.staging_beside());
  const bool out_exists = work.files.kind(work.out) == FileKind::directory;
  if (!made && out_exists) return false;
  DSBUILD_CHECK(made);
  DSBUILD_CHECK(fill_staging(work, work.staging_beside()));
  DSBUILD_TRY(swapped, swap_in(work));
  if (!swapped) {
    DSBUILD_CHECK(work.files.remove_all(work.staging_beside()));
    return false;
  }
  DSBUILD_CHECK(work.files.sync_directory(work.parent()));
  remove_old(work, bundle);
  return true;
}

// Damage to the rest of a manifest does not make the folder someone else's.
bool names_dsbuild(std::string_view manifest) {
  return manifest.find("\"schema\"") != std::string_view::npos &&
         manifest.find("\"dsbuild\"") != std::string_view::npos;
}

Result<void> look_whether_ours(const Path& out, const FileReader& files) {
  const FileKind kind = files.kind(out);
  if (kind == FileKind::absent) return {};
  const std::string fix = "Give --out a folder that is absent, empty or an earlier bundle.";
  if (kind != FileKind::directory)
    return fail(Exit::usage, "foreign_out", out.string(), "is not a folder", fix);
  DSBUILD_TRY(names, files.list(out));
  if (names.empty() || files.kind(out / k_inner_staging) == FileKind::directory) return {};
  if (files.kind(out / k_manifest_name) == FileKind::file) {
    DSBUILD_TRY(manifest, files.read_file(out / k_manifest_name));
    if (names_dsbuild(manifest)) return {};
  }
  return fail(
      Exit::usage, "foreign_out", out.string(),
      "is not a bundle of dsbuild: it holds '" + names.front() + "', and no manifest.json that dsbuild wrote",
      fix + " A bundle whose manifest.json is damaged is to be removed first.");
}

}  // namespace

// Another dsbuild may take the folder away while it is looked at, so it is looked at again.
Result<void> check_out_folder(const Path& out, const FileReader& files) {
  const auto first = look_whether_ours(out, files);
  return first ? first : look_whether_ours(out, files);
}

Result<void> remove_bundle(const Path& out, FileSystem& files) {
  DSBUILD_CHECK(check_out_folder(out, files));
  const Path path = files.absolute(out).lexically_normal();
  const Path aside = staging_beside(path.has_filename() ? path : path.parent_path());
  DSBUILD_CHECK(files.remove_all(aside));
  if (files.own_kind(path) == FileKind::directory && files.rename(path, aside))
    return files.remove_all(aside);
  return files.remove_all(out);
}

Result<Bundle> publish_bundle(const Path& out, const std::vector<BundleFile>& libraries,
                              const Manifest& manifest, FileSystem& files, DigestMemo& digests,
                              const std::string& statement) {
  DSBUILD_CHECK(check_out_folder(out, files));
  const Publication work{resolved(out, files), libraries, render_manifest(manifest), statement, files};
  DSBUILD_TRY(old_names, published_names(work));
  DSBUILD_TRY(published, how_published(work, old_names, digests));
  DSBUILD_CHECK(sweep(work));
  Bundle bundle{.path = out,
                .changed = published != Published::all,
                .bytes = total_bytes(work),
                .removed = {},
                .warnings = {}};
  if (published == Published::without_statement) DSBUILD_CHECK(replace_statement(work));
  if (published != Published::otherwise) return bundle;
  std::ranges::set_difference(old_names, file_names(work), std::back_inserter(bundle.removed));
  DSBUILD_TRY(in_one_step, publish_beside(work, bundle));
  if (in_one_step) return bundle;
  DSBUILD_CHECK(publish_inside(work, old_names));
  bundle.warnings.push_back(warning(
      "published_in_place", out.string(),
      "the folder cannot be exchanged in one step, so its files were moved one by one",
      "Readers found no manifest.json there in between; give --out a folder that is not a mount point."));
  return bundle;
}

namespace {

// One beside it: that of a like name, else the only one.
std::string hint_at_bundle(const Path& named, const FileReader& files) {
  const Path parent = named.parent_path();
  std::vector<std::string> names;
  for (const std::string& name :
       files.list(parent.empty() ? "." : parent).value_or(std::vector<std::string>{}))
    if (files.kind(parent / name / k_manifest_name) == FileKind::file) names.push_back(name);
  const std::string near = names.size() == 1 ? names.front() : nearest(named.filename().string(), names);
  return near.empty() ? "" : " (did you mean '" + printable((parent / near).string()) + "'?)";
}

}  // namespace

Result<Manifest> load_manifest(const Path& bundle, const FileReader& files) {
  const Path file = bundle / k_manifest_name;
  if (files.kind(file) != FileKind::file) {
    return fail(Exit::failed, "no_bundle", bundle.string(),
                "holds no manifest.json, so it is no bundle" + hint_at_bundle(bundle, files),
                "Give the folder that a build's --out named, or build again.");
  }
  DSBUILD_TRY(text, files.read_file(file));
  return parse_manifest(text, file.string());
}

}  // namespace dsbuild
