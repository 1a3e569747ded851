// A program of its own that builds a bundle: build_a_bundle PACK OP OUT
// Link with dsbuild_build. `dsbuild` itself has to be installed: it is what the build's edges run.
#include <cstdio>

#include "driver/build_bundle.h"

struct Told : dsbuild::Events {
  void on_edge(const dsbuild::EdgeEvent& event) override {
    std::printf("%d of %d: %s\n", event.finished, event.total, event.edge->output.c_str());
  }
};

int main(int argc, char** argv) {
  using namespace dsbuild;
  if (argc != 4) return 2;
  const auto files = make_real_file_system();
  const auto processes = make_real_process_runner();
  const Environment environment = read_environment();
  const Path dsbuild = find_program(*files, "dsbuild", variable(environment, "PATH")).value_or("");
  System system{*files, *processes, environment, dsbuild};

  Arguments arguments;  // as on the command line
  arguments["--pack"] = argv[1], arguments["--ops"] = argv[2], arguments["--out"] = argv[3];
  const auto settings =
      load_settings(arguments, environment, *files, dsbuild.parent_path() / "../share/dsbuild");
  if (!settings) return std::puts(settings.error().what.c_str()), 2;
  Told told;
  Session session(*settings, system, told, {{}, std::chrono::steady_clock::now() + std::chrono::hours(1)});
  const auto built = build_bundle({*settings, "build_a_bundle"}, session);
  if (!built) return std::puts(built.error().what.c_str()), 1;
  std::printf("%zu ops in %s\n", built->outcome.manifest.ops.size(), built->outcome.bundle.path.c_str());
}
