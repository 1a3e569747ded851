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

struct Made {
  int code = 0;           // of the first tool that fails
  bool has_names = true;  // of the list of archs: outputs could be given them
};

// Gets the text, which lies where the commands look for it, and a record with its key, to which it adds what
// tools say.
using Make = std::function<Result<Made>(const SourceText& source, Record& record)>;

Result<Made> take_or_make_of(const SourceText& source, StepPart& part, Record& record, const Make& make) {
  record.result = source.key();
  record.said_of = source.key_of_lines();
  DSBUILD_TRY(is_there, part.results.take(record.result, record.said_of));
  if (!is_there) {
    part.tools.wait_to_work(source.seen());
    return make(source, record);
  }
  take_said(part, record);
  return Made{};
}

// With the names that are common to all lists of archs; where outputs cannot be given those of their list,
// with these.
Result<Made> take_or_make(StepPart& part, SourceText& source, Record& record, const Make& make) {
  const std::vector<Said> said = record.said;
  DSBUILD_TRY(made, take_or_make_of(source, part, record, make));
  if (made.code != 0 || made.has_names) return made;
  record.said = said;
  DSBUILD_CHECK(source.take_own_names());
  return take_or_make_of(source, part, record, make);
}

Result<int> run_from_source(StepPart& part, const Make& make) {
  if (const auto known = part.action.recall()) {
    DSBUILD_TRY(is_there, part.results.take(known->result));
    if (is_there) {
      part.tools.say_again(known->said);
      return finish(part, *known);
    }
  }
  part.action.note_difference();
  SourceText source(part.unit, part.files);
  DSBUILD_TRY(code, source.preprocess(part.tools));
  if (code != 0) return code;
  Record record = part.action.describe(source.files_read());
  add_said(record, k_preprocessor, part.tools.take_said());
  if (!record.incomplete.empty()) part.results.keep_nothing();
  DSBUILD_CHECK(part.files.write_file(part.unit.in_scratch(k_module_id_end), part.unit.module_id));
  DSBUILD_TRY(made, take_or_make(part, source, record, make));
  return made.code != 0 ? made.code : finish(part, std::move(record));
}

Result<Made> make_front(StepPart& part, Record& record) {
  const std::string& end = part.unit.step.outputs.front();
  DSBUILD_TRY(code, part.tools.run_in_scratch(part.unit.step.commands.front()));
  if (code != 0) return Made{code};
  DSBUILD_TRY(text, part.files.read_file(part.unit.in_scratch(end)));
  add_said(record, k_compiler, part.tools.take_said());
  const auto texts = part.results.with_names(record.result, {{end, blank_disabled_code(std::move(text))}});
  if (!texts) return Made{0, false};
  DSBUILD_CHECK(part.results.publish(record.result, *texts, {}, record));
  return Made{};
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

Result<StoreEntry> read_device_outputs(const StepPart& part, bool of_ptxas) {
  StoreEntry outputs;
  for (const std::string& end : part.unit.step.outputs) {
    if (is_image(end) != of_ptxas) continue;
    DSBUILD_TRY(bytes, read_device_output(part, end));
    outputs.push_back({end, std::move(bytes)});
  }
  return outputs;
}

struct MadeTexts {
  int code = 0;  // of cicc
  StoreEntry texts;
};

// The PTX and the stub.
Result<MadeTexts> make_texts(StepPart& part, Record& record) {
  if (auto texts = part.results.take_texts(record.result, record.said_of)) {
    take_said(part, record);
    return MadeTexts{0, std::move(*texts)};
  }
  DSBUILD_TRY(code, part.tools.run_in_scratch(part.unit.step.commands.front()));
  if (code != 0) return MadeTexts{code, {}};
  add_said(record, k_compiler, part.tools.take_said());
  DSBUILD_TRY(texts, read_device_outputs(part, false));
  return MadeTexts{0, std::move(texts)};
}

// ptxas gets the PTX with its own names, so its images are what nvcc would make.
Result<int> assemble(StepPart& part, const StoredFile& ptx) {
  DSBUILD_CHECK(part.files.write_file(part.unit.in_scratch(ptx.name), ptx.bytes));
  const std::vector<Words>& commands = part.unit.step.commands;
  for (size_t i = 1; i < commands.size(); ++i) {
    DSBUILD_TRY(code, part.tools.run_in_scratch(commands[i]));
    if (code != 0) return code;
  }
  return 0;
}

// cicc, and ptxas where its images are not there already.
Result<Made> make_device(StepPart& part, const SourceText& source, Record& record) {
  DSBUILD_TRY(made, make_texts(part, record));
  if (made.code != 0) return Made{made.code};
  if (source.has_columns_of_names(made.texts.front().bytes)) return Made{0, false};
  const auto texts = part.results.with_names(record.result, std::move(made.texts));
  if (!texts) return Made{0, false};
  DSBUILD_TRY(has_images, part.results.take_images(record.result, *texts));
  StoreEntry images;
  if (has_images) {
    take_said(part, record);
  } else {
    DSBUILD_TRY(code, assemble(part, texts->own.front()));
    if (code != 0) return Made{code};
    add_said(record, k_assembler, part.tools.take_said());
    DSBUILD_TRY(assembled, read_device_outputs(part, true));
    images = std::move(assembled);
  }
  DSBUILD_CHECK(part.results.publish(record.result, *texts, images, record));
  return Made{};
}

}  // namespace

Result<int> run_front(StepPart& part) {
  return run_from_source(part, [&](const SourceText&, Record& record) { return make_front(part, record); });
}

Result<int> run_device(StepPart& part) {
  return run_from_source(
      part, [&](const SourceText& source, Record& record) { return make_device(part, source, record); });
}

}  // namespace dsbuild
