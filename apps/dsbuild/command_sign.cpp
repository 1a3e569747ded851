// sign: a bundle's statement, and with it all of the bundle's files, by a private key.
#include "bundle/verify.h"
#include "driver/publish.h"
#include "show_events.h"

namespace dsbuild {
namespace {

Result<int> run_sign(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  FileSystem& files = context.system.files;
  if (!context.line.has("--key"))
    return fail(Exit::usage, "bad_option", "sign", "no key given", "Usage: dsbuild sign BUNDLE --key FILE");
  DSBUILD_TRY(key, load_private_key(context.line.value("--key"), files));
  const Path bundle = named_bundle(settings, context);
  ShownEvents events(settings, context);
  DSBUILD_TRY(held, lock_published(bundle, request, files, events));
  DSBUILD_CHECK(check_undamaged(bundle, files));  // nobody signs what is not as its manifest says
  DSBUILD_TRY(done, sign_bundle(bundle, key, files));
  DSBUILD_CHECK(print_done(settings, render_signed_json(done, bundle.string()), render_signed(done)));
  return 0;
}

}  // namespace

CommandRow sign_command() {
  return {.name = "sign",
          .help = "Sign a bundle: its provenance, which names all its files",
          .run = run_sign,
          .examples = {{"dsbuild sign dsbuild-out --key key.pem",
                        "by a key of `openssl genpkey -algorithm ed25519 -out key.pem`"}},
          .options = {{.names = "--key",
                       .type = "FILE",
                       .help = "The private key: Ed25519, or ECDSA on P-256 (PEM, without a passphrase)"}},
          .uses = {{"", {Topic::bundle}}},
          .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
