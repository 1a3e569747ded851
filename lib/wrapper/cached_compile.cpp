#include "wrapper/cached_compile.h"

#include <algorithm>
#include <chrono>

#include "base/build_layout.h"
#include "exec/tool_result.h"
#include "inputs/depfile.h"
#include "remote/open_remote.h"
#include "remote/serve_steps.h"
#include "sys/current_folder.h"
#include "wrapper/call_parts.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// In the cached result: outputs, and the streams of what was said.
constexpr const char *k_object = "object", *k_headers = "headers", *k_out = "out", *k_err = "err";
constexpr char k_below_root = 'p', k_as_it_is = '=';  // marks of headers
constexpr const char* k_output = "object.o";          // of the action; its record lies beside it
constexpr auto k_longest_command = std::chrono::hours(24);

std::string said_on(const ToolResult& result, std::string_view stream) {
  for (const ToolOutput& said : result.tool_output)
    if (said.tool == stream) return said.text;
  return "";
}

void add_stream(ToolResult& result, const char* stream, std::string text) {
  if (!text.empty()) result.tool_output.push_back({stream, std::move(text)});
}

// What was made, and of what.
struct MadeCall {
  int code = 0;
  ToolResult result;
  FilesRead read;
  bool names_root = true;  // or may do so
};

class Call {
 public:
  Call(const CallRequest& request, PathMap place, const CallTools& tools, const CallFolder& folder,
       Session& session, const Say& say)
      : request_(request),
        call_(request.call),
        place_(std::move(place)),
        tools_(tools),
        folder_(folder),
        session_(session),
        files_(session.system.files),
        say_(say) {}

  Result<CachedCompile> run() {
    // Made before anything runs: a file that changes from now on leaves no record that holds.
    ActionRun for_any(words(Root::any), session_.system), for_own(words(Root::own), session_.system);
    for (ActionRun* action : {&for_any, &for_own})
      if (auto taken = take(*action)) return *taken;
    const auto begin = Clock::now();
    const bool is_sliced = call_.kept == NvccCall::Kept::sliced;
    DSBUILD_TRY(made, is_sliced ? by_parts() : by_whole_command());
    const CallKind kind = is_sliced ? CallKind::sliced : CallKind::kept_whole;
    const CachedCompile end{made.code, made.code == 0 ? kind : CallKind::left, 0,
                            is_sliced && made.names_root && place_.is_temporary};
    if (made.code == 0) {
      const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
      made.result.outputs.front().milliseconds = static_cast<uint64_t>(took.count());
      if (is_sliced) DSBUILD_CHECK(give(made.result));
      keep(made, made.names_root ? for_own : for_any);
    }
    say(made.result);
    return end;
  }

 private:
  // For which roots what is kept counts.
  enum class Root { any, own };

  // A depfile's form is none of what is kept.
  StepWords words(Root root) const {
    StepWords words = {"call", k_nvcc_id_file, k_output};
    const bool leaves_headers_out = call_.depfile && call_.depfile->without_system_headers;
    if (call_.kept != NvccCall::Kept::sliced && leaves_headers_out) words.emplace_back("-MMD");
    words.push_back(tools_.nvcc.front());  // names of its headers begin with its own
    words.push_back("in=" + place_.own_name(place_.folder));
    if (root == Root::own) words.push_back("root=" + place_.root + " " + place_.folder);
    for (const Environment& of_caller : {tools_.looked_at, tools_.locale})
      for (const auto& [name, value] : of_caller)
        words.push_back(name + "=" + value);
    // So __FILE__ is spelled.
    words.push_back("-c=" + (call_.source.starts_with('/') ? place_.own_name(call_.source) : call_.source));
    Args flags = call_.flags;
    flags.push_back(call_.source);
    flags = place_.own_words(std::move(flags));
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }

  std::optional<CachedCompile> take(ActionRun& action) {
    const auto known = action.lookup();
    const auto result =
        known ? ResultCache(action.cache()).find(known->result.digest, {k_object, k_headers}) : std::nullopt;
    if (!result || !give(*result)) return std::nullopt;
    say(*result);
    return CachedCompile{0, CallKind::taken, static_cast<double>(milliseconds_of(result->outputs)) / 1000};
  }

  void keep(const MadeCall& made, ActionRun& action) {
    if (made.read.files.empty()) return;  // it is not known what of
    Record record = action.make_record(made.read);
    if (!can_hold(record)) return;
    record.result = key_of_result(record, made.result);
    ResultCache(action.cache()).put(record.result.digest, made.result);
    action.share(record);
    (void)action.write(std::move(record));
  }

  Path given(const std::string& path) const { return Path(place_.folder) / path; }

  void say(const ToolResult& result) const { say_(said_on(result, k_out), said_on(result, k_err)); }

  // The object, and the depfile that is wanted.
  Result<void> give(const ToolResult& result) {
    if (call_.depfile) {
      DSBUILD_TRY(text, depfile_of(*result.find(k_headers)));
      DSBUILD_CHECK(files_.write_file(given(call_.depfile->file), text));
    }
    return files_.write_file(given(call_.object), *result.find(k_object));
  }

  // nvcc itself writes it where it is not known what it names, or how it would spell that.
  Result<std::string> depfile_of(const std::string& headers) {
    std::vector<std::string> names;
    for (const std::string& line : split_lines(headers))
      if (line.front() == 'u' || !call_.depfile->without_system_headers)
        names.push_back((line[1] == k_below_root ? place_.root : "") + line.substr(2));
    if (!names.empty())
      if (auto text = render_nvcc_depfile(*call_.depfile, names)) return std::move(*text);
    return depfile_by_nvcc();
  }

  // For other roots: a mark behind that of the system says whether a name begins with the root.
  std::string without_root(const std::vector<std::string>& headers) const {
    std::string lines;
    for (const std::string& header : headers) {
      const std::string name = header.substr(1);
      const bool is_below = name.starts_with(place_.root + "/");
      lines += header.substr(0, 1) + (is_below ? k_below_root : k_as_it_is) +
               (is_below ? name.substr(place_.root.size()) : name) + "\n";
    }
    return lines;
  }

  Result<std::string> depfile_by_nvcc() {
    const std::string file = files_.absolute("depfile").string();
    Args command = tools_.nvcc;
    command.insert(command.end(), call_.flags.begin(), call_.flags.end());
    command.insert(command.end(), {call_.depfile->without_system_headers ? "-MM" : "-M", "-MF", file, "-MT",
                                   call_.depfile->target, call_.source});
    if (call_.depfile->has_phony_targets) command.emplace_back("-MP");
    if (call_.language_is_given) command.insert(command.end(), {"-x", "cu"});
    Environment environment = tools_.environment;
    environment["TMPDIR"] = files_.absolute(k_tool_tmp_dir).string();
    DSBUILD_TRY(result,
                session_.system.processes.run({command, environment, place_.folder, k_longest_command}));
    if (!result.ok()) return left_to_nvcc(call_.source, "nvcc wrote no depfile: " + trim(result.err));
    return files_.read_file(file);
  }

  Result<MadeCall> by_parts() {
    DSBUILD_TRY(joined, make_by_parts({call_, place_, tools_, folder_, request_.settings}, session_));
    MadeCall made;
    made.result.outputs = {{k_object, std::move(joined.bytes)}, {k_headers, without_root(joined.headers)}};
    add_stream(made.result, k_err, std::move(joined.said));
    made.read = std::move(joined.read);
    made.names_root = joined.names_root;
    return made;
  }

  // As it was given: nvcc writes the object and the depfile, which is one of our own where the call asks for
  // none.
  Result<MadeCall> by_whole_command() {
    if (call_.depfile && call_.depfile->without_system_headers)
      return left_to_nvcc(call_.source, call_.why_whole + ", and its depfile leaves headers out");
    Args command = {request_.nvcc.program.string()};
    command.insert(command.end(), request_.nvcc.words.begin(), request_.nvcc.words.end());
    const std::string depfile =
        call_.depfile ? given(call_.depfile->file).string() : files_.absolute("depfile").string();
    if (!call_.depfile) command.insert(command.end(), {"-MD", "-MF", depfile, "-MT", "object"});
    DSBUILD_TRY(result, session_.system.processes.run(
                            {command, session_.system.environment, place_.folder, k_longest_command}));
    MadeCall made;
    made.code = result.exit_code;
    add_stream(made.result, k_out, result.out);
    add_stream(made.result, k_err, result.err);
    if (made.code != 0) return made;
    DSBUILD_TRY(object, files_.read_file(given(call_.object)));
    DSBUILD_TRY(text, files_.read_file(depfile));
    // It does not say which are the system's: this call's key says that all are wanted.
    std::vector<std::string> read = files_in_depfile(text), headers;
    for (std::string& file : read) {
      headers.push_back("u" + file);
      file = place_.own_name(file);
    }
    Args flags = call_.flags;
    flags.insert(flags.end(), {"-I" + tools_.toolkit.include_dir().string(), call_.source});
    made.result.outputs = {{k_object, std::move(object)}, {k_headers, without_root(headers)}};
    made.read = {std::move(read), place_.own_words(std::move(flags))};
    return made;
  }

  const CallRequest& request_;
  const NvccCall& call_;
  const PathMap place_;
  const CallTools& tools_;
  const CallFolder& folder_;
  Session& session_;
  FileSystem& files_;
  const Say& say_;
};

// Where pip, uv and people unpack what they build once. Under `wrap` alone: who calls `dsbuild nvcc` gets
// nvcc's own names.
bool is_temporary_folder(const std::string& folder, const Environment& environment) {
  if (variable(environment, k_folder_names_variable) != "any") return false;
  const std::string named = variable(environment, "TMPDIR");
  for (const std::string& parent : {named, std::string("/tmp"), std::string("/var/tmp")})
    if (parent.starts_with('/') && folder.starts_with(parent + "/")) return true;
  return folder.find("/.tmp") != std::string::npos;  // uv's, in its cache
}

PathMap place_of(const NvccCall& call, const Path& folder, const Environment& environment) {
  const std::string source = (folder / call.source).lexically_normal().string(),
                    root = root_of(source, folder.string());
  return {folder.string(), root, call.source, is_temporary_folder(root, environment)};
}

void say_without_shared_cache(const std::string& why, const Say& say) {
  say("", "dsbuild nvcc: without the shared cache: " + visible(why) + "\n");
}

// With the shared cache: that of the command whose call this is (`wrap`), or one of its own. A call that
// cannot have it is made without it.
std::unique_ptr<RequestServer> share(const Settings& settings, Session& session, const Say& say) {
  if (auto upstream = upstream_of_build(session.system.environment)) {
    session.cached_facts.share_with(std::move(upstream));
    return nullptr;
  }
  auto remote = open_remote(settings, session.system);
  if (!remote) say_without_shared_cache(remote.error().where + ": " + remote.error().what, say);
  if (!remote || !*remote) return nullptr;
  session.share_with(*remote);
  auto server = serve_steps(std::move(*remote), session.system.environment);
  return server ? std::move(*server) : nullptr;
}

void end_sharing(Session& session, const Say& say) {
  if (!session.remote) return;
  session.end_sharing(k_most_seconds_for_uploads);
  if (const std::string off = session.remote->uses().off; !off.empty()) say_without_shared_cache(off, say);
}

}  // namespace

Result<CachedCompile> make_or_take(const CallRequest& request, const Path& folder, System& system,
                                   const Say& say) {
  if (!system.files.make_directories(request.settings.cache_dir))
    return left_to_nvcc(request.call.source,
                        "the cache folder cannot be written: " + request.settings.cache_dir.string());
  Session session(request.settings, system);
  const auto server = share(request.settings, session, say);
  DSBUILD_TRY(tools, find_call_tools(request.nvcc.program, request.call, session));
  session.facts.save();
  session.digests.save();
  const PathMap place = place_of(request.call, folder, system.environment);
  DSBUILD_TRY(call_folder, CallFolder::make(place, tools, session, request.settings));
  DSBUILD_CHECK(enter_folder(call_folder.path()));
  auto end = Call(request, place, tools, call_folder, session, say).run();
  (void)enter_folder(folder);
  end_sharing(session, say);
  return end;
}

}  // namespace dsbuild
