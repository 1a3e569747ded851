#include "base/build_layout.h"
#include "nvcc/host_text.h"
#include "nvcc/slice_stepper.h"
#include "nvcc/source_text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";

// Preprocesses; the text has a key, by which the cache or the tools give the rest.
class SourceStepper : public SliceStepper {
 public:
  using SliceStepper::SliceStepper;

  // The text has the names that are common to all lists of archs; where outputs cannot be given those of
  // their list, its own.
  Result<Made> make(Engine& engine) override {
    SourceText source(unit_, engine.files());
    engine.acquire_probe();
    DSBUILD_TRY(code, source.preprocess(tools_));
    if (code != 0) return Made::failed(code);
    Record record = engine.action().make_record(source.files_read());
    add_tool_output(record, k_preprocessor, tools_.take_output());
    if (!record.incomplete.empty()) engine.keep_nothing();
    DSBUILD_CHECK(engine.files().write_file(unit_.in_scratch(k_module_id_end), unit_.module_id));
    DSBUILD_TRY(made, take_or_make(source, record));
    if (made) return std::move(*made);
    DSBUILD_CHECK(source.take_own_names());
    DSBUILD_TRY(with_own_names, take_or_make(source, std::move(record)));
    return std::move(with_own_names.value());
  }

  // Texts and images are results of their own, stored as they are made.
  void store(const ResultKey&, const ToolResult&, Engine&) const override {}

 protected:
  // Nothing where outputs cannot have the names of their list.
  using MaybeMade = Result<std::optional<Made>>;
  virtual MaybeMade make_of(const SourceText& source, Record record) = 0;

 private:
  MaybeMade take_or_make(const SourceText& source, Record record) {
    record.result = source.key();
    record.tool_output_source = source.key_of_lines();
    auto taken = engine_.take(*this, record.result, record.tool_output_source);
    if (!taken) {
      engine_.acquire_full(source.seen());
      return make_of(source, std::move(record));
    }
    replay(taken->record.tool_output, record);
    taken->record = std::move(record);
    return taken;
  }
};

class FrontStepper : public SourceStepper {
  using SourceStepper::SourceStepper;

  MaybeMade make_of(const SourceText&, Record record) override {
    const std::string& end = unit_.step.outputs.front();
    DSBUILD_TRY(code, tools_.run_in_scratch(unit_.step.commands.front()));
    if (code != 0) return Made::failed(code);
    DSBUILD_TRY(text, engine_.files().read_file(unit_.in_scratch(end)));
    add_tool_output(record, k_compiler, tools_.take_output());
    auto texts = results_.with_names(
        record.result, {{end, blank_disabled_code(std::move(text)), engine_.take_milliseconds()}});
    if (!texts) return std::nullopt;
    results_.put_texts(record.result, *texts, record);
    return Made{0, ResultOrigin::tools, std::move(texts->own), std::move(record), {}};
  }
};

// cicc, and ptxas where its images are not there already.
class DeviceStepper : public SourceStepper {
  using SourceStepper::SourceStepper;

  // What ptxas was given is the PTX that is there.
  Result<void> complete(Record& record, ActionRun&) const override {
    if (unit_.step.commands.size() < 2) return {};
    DSBUILD_TRY(ptx, engine_.files().read_file(path_of(unit_.step.outputs.front())));
    record.given = results_.images_key(ptx);
    return {};
  }

  MaybeMade make_of(const SourceText& source, Record record) override {
    Made made{0, ResultOrigin::tools, {}, std::move(record), {}};
    DSBUILD_TRY(code, add_texts(made));
    if (code != 0) return Made::failed(code);
    const std::string& ptx = made.outputs.front().bytes;
    if (source.has_columns_of_names(ptx) || source.gave_names_to(ptx)) return std::nullopt;
    const auto texts = results_.with_names(made.record.result, made.outputs);
    if (!texts) return std::nullopt;
    const bool are_new = made.made_of == ResultOrigin::tools;
    made.outputs = texts->own;
    DSBUILD_TRY(images_code, add_images(*texts, made));
    if (images_code != 0) return Made::failed(images_code);
    made.record.images = results_.images_key(texts->made.front().bytes);
    // With what ptxas said, where it only checks.
    if (are_new) results_.put_texts(made.record.result, *texts, made.record);
    return made;
  }

  // The PTX and the stub.
  Result<int> add_texts(Made& made) {
    if (auto texts = results_.find_texts(made.record.result, made.record.tool_output_source)) {
      made.made_of = ResultOrigin::some_tools;
      made.outputs = std::move(texts->outputs);
      replay(texts->tool_output, made.record);
      return 0;
    }
    DSBUILD_TRY(code, tools_.run_in_scratch(unit_.step.commands.front()));
    if (code != 0) return code;
    add_tool_output(made.record, k_compiler, tools_.take_output());
    return add_outputs(made, false);
  }

  Result<int> add_images(const NamedTexts& texts, Made& made) {
    DSBUILD_TRY(are_there, take_images(texts, made));
    if (are_there) return 0;
    DSBUILD_TRY(code, assemble(texts.own.front()));
    if (code != 0) return code;
    add_tool_output(made.record, k_assembler, tools_.take_output());
    DSBUILD_CHECK(add_outputs(made, true));
    results_.put_images(made.record.result, texts, made.outputs, made.record);
    return 0;
  }

  // Those that are here of the same PTX, or the cache's.
  Result<bool> take_images(const NamedTexts& texts, Made& made) {
    const auto& last = engine_.action().last();
    if (!engine_.keeps_nothing() && last && !last->given.empty() &&
        last->given == results_.images_key(texts.own.front().bytes) && engine_.action().has_last_outputs()) {
      for (const std::string& end : unit_.step.outputs)
        if (is_image(end)) {
          DSBUILD_TRY(bytes, engine_.files().read_file(path_of(end)));
          made.outputs.push_back({end, std::move(bytes)});
        }
      replay(output_of_tool(*last, k_assembler), made.record);
      made.made_of = ResultOrigin::some_tools;
      return true;
    }
    auto images = results_.find_images(made.record.result, texts);
    if (!images) return false;
    made.outputs.insert(made.outputs.end(), images->outputs.begin(), images->outputs.end());
    replay(images->tool_output, made.record);
    made.made_of = ResultOrigin::some_tools;
    return true;
  }

  // ptxas gets the PTX with its own names, so its images are what nvcc would make.
  Result<int> assemble(const StoredFile& ptx) {
    DSBUILD_CHECK(engine_.files().write_file(unit_.in_scratch(ptx.name), ptx.bytes));
    const std::vector<Args>& commands = unit_.step.commands;
    for (size_t i = 1; i < commands.size(); ++i) {
      DSBUILD_TRY(code, tools_.run_in_scratch(commands[i]));
      if (code != 0) return code;
    }
    return 0;
  }

  Result<int> add_outputs(Made& made, bool of_ptxas) {
    for (const std::string& end : unit_.step.outputs) {
      if (is_image(end) != of_ptxas) continue;
      DSBUILD_TRY(bytes, read_output(end));
      made.outputs.push_back({end, std::move(bytes), engine_.take_milliseconds()});
    }
    return 0;
  }

  // The stub names itself after its arch; the host's compile includes that of any.
  Result<std::string> read_output(const std::string& end) const {
    DSBUILD_TRY(bytes, engine_.files().read_file(unit_.in_scratch(end)));
    if (is_image(end) && !bytes.starts_with(k_elf_magic))
      return fail(Exit::failed, "bad_elf", unit_.path + end, "ptxas gave no ELF file",
                  "Run the build again. If the error remains, build with --backend nvcc.");
    if (end.ends_with(k_stub_end))
      return replace_all(std::move(bytes), unit_.stem + end, unit_.stem + k_stub_end);
    return bytes;
  }
};

}  // namespace

std::unique_ptr<Stepper> make_front_stepper(const StepUnit& unit, Engine& engine) {
  return std::make_unique<FrontStepper>(unit, engine);
}

std::unique_ptr<Stepper> make_device_stepper(const StepUnit& unit, Engine& engine) {
  return std::make_unique<DeviceStepper>(unit, engine);
}

}  // namespace dsbuild
