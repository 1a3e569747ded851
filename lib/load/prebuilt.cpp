#include "load/prebuilt.h"

#include "bundle/bundle.h"

namespace dsbuild {
namespace {

struct Place {
  Path bundle;
  std::string named_by;
};

// A library stands in its bundle.
Path bundle_of(const Path& path, const FileReader& files) {
  return files.kind(path) == FileKind::file ? path.parent_path() : path;
}

std::vector<Place> places_of(const LoadRequest& request, const FileReader& files) {
  std::vector<Place> places;
  if (!request.path.empty()) places.push_back({bundle_of(request.path, files), "--path"});
  const Setting<Path>& bundle = request.request.settings.bundle;
  if (!bundle.value.empty()) places.push_back({bundle.value, bundle.origin});
  return places;
}

// What is there, and why it is not to be taken: "" where it is.
struct Candidate {
  LoadedOp loaded;
  std::string misfit;
};

Result<Candidate> look_at(const Place& place, const LoadRequest& request, Session& session) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(manifest, load_manifest(place.bundle, files));
  const ManifestOp* op = manifest.find(request.op);
  Candidate candidate;
  if (!op) {
    candidate.misfit = "it has no " + request.op;
    return candidate;
  }
  const Path library = files.absolute(place.bundle / op->file);
  DSBUILD_CHECK(check_is_safe(library, files));
  const auto digest = session.digests.digest(library);
  const Fit fit = fit_of(*op, manifest, request.machine);
  candidate.misfit =
      digest && *digest == op->sha256 ? fit.misfit : op->file + " is not what its manifest says";
  candidate.loaded.library = library;
  candidate.loaded.op = *op;
  candidate.loaded.manifest = std::move(manifest);
  candidate.loaded.from = place.named_by;
  candidate.loaded.coverage = fit.coverage;
  return candidate;
}

}  // namespace

Result<void> check_is_safe(const Path& library, const FileReader& files) {
  for (const Path& path : {library, library.parent_path()})
    if (files.others_can_write(path))
      return fail(Exit::failed, "unsafe_folder", path.string(),
                  "others can write to it, so that what is loaded would be what they choose",
                  "chmod go-w " + path.string() + ", or name a bundle of your own.");
  return {};
}

Result<std::optional<LoadedOp>> find_prebuilt(const LoadRequest& request, Session& session,
                                              std::vector<std::string>& passed_over) {
  for (const Place& place : places_of(request, session.system.files)) {
    DSBUILD_TRY(candidate, look_at(place, request, session));
    if (candidate.misfit.empty()) return candidate.loaded;
    passed_over.push_back(place.named_by + " " + place.bundle.string() + ": " + candidate.misfit);
  }
  return std::nullopt;
}

}  // namespace dsbuild
