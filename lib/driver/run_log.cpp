#include "driver/run_log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "base/build_layout.h"
#include "ninja/progress.h"

namespace dsbuild {

RunLog::RunLog(const Path& build_dir, FileSystem& files) : file_(build_dir / k_run_log_file), files_(files) {}

void RunLog::on_event(const EdgeEvent& event) {
  if (event.kind != EdgeEventKind::finished && event.kind != EdgeEventKind::failed) return;
  open();
  if (!log_) return;
  const bool failed = event.kind == EdgeEventKind::failed;
  log_->info("[{}/{}] {} {} {:.2f} s{}", event.finished, event.total, edge_title(*event.edge),
             failed ? "FAILED after" : "ok,", event.seconds, event.reason.empty() ? "" : ": " + event.reason);
  if (!event.output.empty()) log_->info("{}", event.output);
}

void RunLog::open() {
  if (log_ || is_broken_) return;
  (void)files_.remove_all(file_);  // a link there would be written through
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file_.string(), true);
    log_ = std::make_shared<spdlog::logger>("dsbuild", std::move(sink));
    log_->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex&) {
    is_broken_ = true;
  }
}

}  // namespace dsbuild
