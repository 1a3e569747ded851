#include "load/prebuilt.h"

#include "bundle/bundle.h"

namespace dsbuild {
namespace {

struct PrebuiltPlace {
  Path bundle;
  std::string named_by;
};

// A library stands in its bundle.
Path bundle_of(const Path& path, const FileReader& files) {
  return files.kind(path) == FileKind::file ? path.parent_path() : path;
}

std::vector<PrebuiltPlace> places_of(const LoadRequest& request, const FileReader& files) {
  std::vector<PrebuiltPlace> places;
  if (!request.path.empty()) places.push_back({bundle_of(request.path, files), "--path"});
  const Setting<Path>& bundle = request.request.settings.bundle;
  if (!bundle.value.empty()) places.push_back({bundle.value, bundle.origin});
  for (const Path& installed : request.installed)
    places.push_back({installed, "--installed"});
  return places;
}

// In an installed wheel a Python module lies where Python looks for it.
Path library_in(const Path& bundle, const ManifestOp& op, const Manifest& manifest, const FileReader& files) {
  const std::string module = manifest.torch ? op.module_file(manifest.torch->ext_suffix) : "";
  const bool is_installed = !module.empty() && files.kind(bundle / module) == FileKind::file;
  return files.absolute(bundle / (is_installed ? module : op.file));
}

// As manifests name it: packs of other names may have ops of the same name.
Result<std::string> pack_of(const Settings& settings, const System& system) {
  const std::string& pack = settings.pack.value;
  if (pack.find('/') == std::string::npos) return pack;
  DSBUILD_TRY(registry, load_registry(settings, system));
  return registry.pack;
}

// What is there, and why it is not to be taken: "" where it is.
struct Candidate {
  LoadedOp loaded;
  std::string misfit;
};

Result<Candidate> look_at(const PrebuiltPlace& place, const std::string& pack, const LoadRequest& request,
                          Session& session) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(manifest, load_manifest(place.bundle, files));
  const std::vector<const ManifestOp*> ops = manifest.find_all(request.op);
  Candidate candidate;
  if (manifest.pack != pack) {
    candidate.misfit = "it is of the pack " + printable(manifest.pack);
    return candidate;
  }
  if (ops.empty()) {
    candidate.misfit = "it has no " + request.op;
    return candidate;
  }
  const Interpreter python{request.request.settings.python.value, session.system, session.facts};
  const auto [op, fit] = fitting_op(ops, manifest, request.machine, python);
  const Path library = library_in(place.bundle, *op, manifest, files);
  DSBUILD_CHECK(check_is_safe(library, files));
  const auto digest = session.digests.digest(library);
  candidate.misfit = digest && *digest == op->sha256
                         ? fit.misfit
                         : library.filename().string() + " is not what its manifest says";
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
  const std::vector<PrebuiltPlace> places = places_of(request, session.system.files);
  if (places.empty()) return std::nullopt;
  DSBUILD_TRY(pack, pack_of(request.request.settings, session.system));
  for (const PrebuiltPlace& place : places) {
    DSBUILD_TRY(candidate, look_at(place, pack, request, session));
    if (candidate.misfit.empty()) return candidate.loaded;
    passed_over.push_back(place.named_by + " " + place.bundle.string() + ": " + candidate.misfit);
  }
  return std::nullopt;
}

}  // namespace dsbuild
