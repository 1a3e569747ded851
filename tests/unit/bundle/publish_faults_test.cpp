// The promise: after any error or kill the published bundle is the old one or the new one, and the next run
// heals without help. Every change that publishing makes on the disk fails once, or is the last before a
// kill.
#include <catch2/catch.hpp>
#include <functional>

#include "bundle/bundle.h"
#include "fakes/faulty_file_system.h"
#include "support/temp_folder.h"

using namespace dsbuild;

namespace {

using Publisher =
    std::function<bool(const Path& out, const std::vector<BundleFile>&, const Manifest&, FileSystem&)>;

bool publish(const Path& out, const std::vector<BundleFile>& libraries, const Manifest& manifest,
             FileSystem& files) {
  DigestMemo digests(files, out.parent_path().parent_path() / "digests");
  return publish_bundle(out, libraries, manifest, files, digests).has_value();
}

// What dsbuild must not do: it shows that these tests can fail.
bool copy_in_place(const Path& out, const std::vector<BundleFile>& libraries, const Manifest& manifest,
                   FileSystem& files) {
  for (const BundleFile& library : libraries) {
    if (!files.copy_file(library.from, out / library.name, true)) return false;
  }
  return files.write_file(out / k_manifest_name, render_manifest(manifest)).has_value();
}

struct Generation {
  std::vector<BundleFile> libraries;
  Manifest manifest;
};

Generation generation(const TempFolder& temp, const std::string& name, const std::vector<std::string>& ops) {
  Generation made;
  made.manifest.dsbuild = "0.1.0";
  made.manifest.build_string = name;
  for (const std::string& op : ops) {
    made.libraries.push_back({temp.add(name + "/" + op + ".so", name + " bytes of " + op), op + ".so"});
    made.manifest.ops.push_back({});
    made.manifest.ops.back().name = op;
    made.manifest.ops.back().file = op + ".so";
  }
  return made;
}

struct Outcome {
  int faults = 0;                  // how many moments were tried
  std::vector<std::string> wrong;  // what was broken, at which
};

using Files = std::map<std::string, std::string>;
using Accepts = std::function<bool(const Files& now, const Files& old_bundle, const Files& new_bundle)>;

// A staging folder inside is only a mark for the next run.
Files without_staging(Files files) {
  std::erase_if(files, [](const auto& file) { return file.first.starts_with(".dsbuild-staging"); });
  return files;
}

bool is_old_or_new(const Files& now, const Files& old_bundle, const Files& new_bundle) {
  return now == old_bundle || now == new_bundle;
}

struct Trial {
  Fault fault = Fault::error;
  bool can_exchange = true;
  bool has_old = true;
};

// Publishes over an old bundle with a fault at every moment, one after the other, until one run meets none.
Outcome try_every_moment(const Publisher& publisher, const Trial& trial, const Accepts& accepts) {
  const auto real = make_real_file_system();
  Outcome outcome;
  for (int moment = 1;; ++moment) {
    const TempFolder temp;
    const Path out = temp.path() / "room/out";
    const Generation old_one = generation(temp, "old", {"a", "b"});
    const Generation new_one = generation(temp, "new", {"b", "c"});
    std::filesystem::create_directories(temp.path() / "room");
    REQUIRE(publish(temp.path() / "reference/out", new_one.libraries, new_one.manifest, *real));
    if (trial.has_old) REQUIRE(publish(out, old_one.libraries, old_one.manifest, *real));
    const auto old_bundle = snapshot(out);
    const auto new_bundle = snapshot(temp.path() / "reference/out");

    FaultyFileSystem faulty(*real, moment, trial.fault);
    faulty.can_exchange = trial.can_exchange;
    const bool done = publisher(out, new_one.libraries, new_one.manifest, faulty);
    const std::string when = " at change " + std::to_string(moment);
    const Files now = snapshot(out);
    if (!accepts(without_staging(now), old_bundle, new_bundle)) outcome.wrong.push_back("mixed" + when);
    if (done && now != new_bundle) outcome.wrong.push_back("success without the new bundle" + when);
    if (!faulty.was_hit()) return outcome;
    ++outcome.faults;

    if (!publish(out, new_one.libraries, new_one.manifest, *real))
      outcome.wrong.push_back("not healed" + when);
    if (snapshot(out) != new_bundle) outcome.wrong.push_back("healed into something else" + when);
    if (real->list(temp.path() / "room").value().size() != 1) outcome.wrong.push_back("leftovers" + when);
  }
}

}  // namespace

TEST_CASE("A publisher that copies in place is caught by these tests") {
  const Outcome outcome = try_every_moment(copy_in_place, {}, is_old_or_new);
  CHECK(outcome.faults > 0);
  CHECK_FALSE(outcome.wrong.empty());
}

TEST_CASE("After one failing change, whichever it is, the old bundle or the new one is there") {
  const Outcome outcome = try_every_moment(publish, {.fault = Fault::error}, is_old_or_new);
  CHECK(outcome.faults >= 8);
  CHECK(outcome.wrong.empty());
}

TEST_CASE("After a kill at any change the old bundle or the new one is there") {
  const Outcome outcome = try_every_moment(publish, {.fault = Fault::kill}, is_old_or_new);
  CHECK(outcome.faults >= 8);
  CHECK(outcome.wrong.empty());
}

TEST_CASE("A first bundle is absent or complete, whatever fails") {
  for (const Fault fault : {Fault::error, Fault::kill}) {
    const Outcome outcome = try_every_moment(publish, {.fault = fault, .has_old = false}, is_old_or_new);
    CHECK(outcome.faults >= 6);
    CHECK(outcome.wrong.empty());
  }
}

TEST_CASE("Where folders cannot be exchanged, the bundle is old, new, or has no manifest and is no bundle") {
  const auto accepts = [](const Files& now, const Files& old_bundle, const Files& new_bundle) {
    return is_old_or_new(now, old_bundle, new_bundle) || now.count(k_manifest_name) == 0;
  };
  for (const Fault fault : {Fault::error, Fault::kill}) {
    const Outcome outcome = try_every_moment(publish, {.fault = fault, .can_exchange = false}, accepts);
    CHECK(outcome.faults >= 15);
    CHECK(outcome.wrong == std::vector<std::string>{});
  }
}
