#include "base/build_layout.h"
#include "nvcc/host_text.h"
#include "nvcc/source_text.h"
#include "nvcc/step_parts.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";

// What ptxas was given is the PTX that is there.
Result<int> finish(StepPart& part, Record record) {
  if (const std::string& end = part.unit.step.outputs.front(); part.unit.step.commands.size() > 1) {
    DSBUILD_TRY(ptx, part.files.read_file(part.unit.path + end));
    record.given = part.results.images_key(ptx);
  }
  DSBUILD_CHECK(part.action.write(std::move(record), part.unit.outputs()));
  return 0;
}

// What was said when the outputs that were taken were made.
void take_said(StepPart& part, Record& record) {
  part.tools.say_again(part.results.said());
  const std::vector<Said>& said = part.results.said();
  record.said.insert(record.said.end(), said.begin(), said.end());
}

// `make` gets a record with the key of the text, which lies where the commands look for it, and adds to it
// what tools say.
Result<int> run_from_source(StepPart& part, const std::function<Result<int>(Record& record)>& make) {
  if (const auto known = part.action.recall()) {
    DSBUILD_TRY(is_there, part.results.take(known->result));
    if (is_there) {
      part.tools.say_again(known->said);
      return finish(part, *known);
    }
  }
  SourceText source(part.unit, part.files);
  DSBUILD_TRY(code, source.preprocess(part.tools));
  if (code != 0) return code;
  Record record = part.action.describe(source.files_read());
  record.result = source.key();
  record.said_of = source.key_of_lines();
  add_said(record, k_preprocessor, part.tools.take_said());
  if (!record.incomplete.empty()) part.results.keep_nothing();
  DSBUILD_CHECK(part.files.write_file(part.unit.in_scratch(k_module_id_end), part.unit.module_id));
  DSBUILD_TRY(is_there, part.results.take(record.result, record.said_of));
  if (is_there) {
    take_said(part, record);
  } else {
    part.tools.wait_to_work();
    DSBUILD_TRY(made, make(record));
    if (made != 0) return made;
  }
  return finish(part, std::move(record));
}

Result<int> make_front(StepPart& part, Record& record) {
  const std::string& end = part.unit.step.outputs.front();
  DSBUILD_TRY(code, part.tools.run_in_scratch(part.unit.step.commands.front()));
  if (code != 0) return code;
  DSBUILD_TRY(text, part.files.read_file(part.unit.in_scratch(end)));
  add_said(record, k_compiler, part.tools.take_said());
  DSBUILD_CHECK(part.results.publish(record.result, {{end, blank_disabled_code(std::move(text))}}, record));
  return 0;
}

// The stub names itself after its arch; the host's compile includes that of any.
Result<std::string> read_device_output(const StepPart& part, const std::string& end) {
  const StepUnit& unit = part.unit;
  DSBUILD_TRY(bytes, part.files.read_file(unit.in_scratch(end)));
  if (is_image(end) && !bytes.starts_with(k_elf_magic))
    return fail(Exit::failed, "bad_elf", unit.path + end, "ptxas gave no ELF file",
                "Run the build again; if it stays, build with --backend nvcc.");
  if (end.ends_with(k_stub_end))
    return replace_all(std::move(bytes), unit.stem + end, unit.stem + k_stub_end);
  return bytes;
}

Result<StoreEntry> read_device_outputs(const StepPart& part, bool with_images) {
  StoreEntry outputs;
  for (const std::string& end : part.unit.step.outputs) {
    if (is_image(end) && !with_images) continue;
    DSBUILD_TRY(bytes, read_device_output(part, end));
    outputs.push_back({end, std::move(bytes)});
  }
  return outputs;
}

// cicc, and ptxas where its images are not there already.
Result<int> make_device(StepPart& part, Record& record) {
  const std::vector<Words>& commands = part.unit.step.commands;
  DSBUILD_TRY(code, part.tools.run_in_scratch(commands.front()));
  if (code != 0) return code;
  add_said(record, k_compiler, part.tools.take_said());
  DSBUILD_TRY(ptx, part.files.read_file(part.unit.in_scratch(part.unit.step.outputs.front())));
  DSBUILD_TRY(has_images, part.results.take_images(ptx));
  if (has_images) take_said(part, record);
  for (size_t i = 1; i < commands.size() && !has_images; ++i) {
    DSBUILD_TRY(assembled, part.tools.run_in_scratch(commands[i]));
    if (assembled != 0) return assembled;
  }
  add_said(record, k_assembler, part.tools.take_said());
  DSBUILD_TRY(outputs, read_device_outputs(part, !has_images));
  DSBUILD_CHECK(part.results.publish(record.result, outputs, record));
  return 0;
}

}  // namespace

Result<int> run_front(StepPart& part) {
  return run_from_source(part, [&](Record& record) { return make_front(part, record); });
}

Result<int> run_device(StepPart& part) {
  return run_from_source(part, [&](Record& record) { return make_device(part, record); });
}

}  // namespace dsbuild
