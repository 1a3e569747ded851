#include "report/metrics.h"

#include <array>

#include "base/text.h"

namespace dsbuild {
namespace {

std::string seconds_of(uint64_t milliseconds) {
  const std::string rest = std::to_string(milliseconds % 1000);
  return std::to_string(milliseconds / 1000) + "." + std::string(3 - rest.size(), '0') + rest;
}

std::string label(const char* name, std::string value) {
  value = replace_all(std::move(value), "\\", "\\\\");
  value = replace_all(std::move(value), "\"", "\\\"");
  return std::string(name) + "=\"" + replace_all(std::move(value), "\n", "\\n") + "\"";
}

struct Sample {
  std::string labels, value;
};

// A name ends with its unit, where it has one.
std::string family(const std::string& name, const char* type, const char* unit, const char* help,
                   const std::vector<Sample>& samples) {
  std::string text = "# TYPE " + name + " " + type + "\n";
  if (*unit != '\0') text += "# UNIT " + name + " " + unit + "\n";
  text += "# HELP " + name + " " + help + "\n";
  const std::string suffix = std::string_view(type) == "counter" ? "_total" : "";
  for (const Sample& sample : samples)
    text +=
        name + suffix + (sample.labels.empty() ? "" : "{" + sample.labels + "}") + " " + sample.value + "\n";
  return text;
}

std::string counter(const char* name, const char* help, uint64_t value) {
  return family(name, "counter", "", help, {{"", std::to_string(value)}});
}

std::string builds(const CacheCounts& counts) {
  return family("dsbuild_builds", "counter", "", "Builds that had something to do.",
                {{label("result", "published"), std::to_string(counts.builds - counts.failed_builds)},
                 {label("result", "failed"), std::to_string(counts.failed_builds)}}) +
         family("dsbuild_build_seconds", "counter", "seconds", "Wall time of these builds.",
                {{"", seconds_of(counts.build_milliseconds)}});
}

std::string last_build(const CacheCounts& counts) {
  if (counts.last_build_at == 0) return "";
  return family("dsbuild_last_build_seconds", "gauge", "seconds", "Wall time of the last build.",
                {{"", seconds_of(counts.last_build_milliseconds)}}) +
         family("dsbuild_last_build_succeeded", "gauge", "", "1 where the last build published a bundle.",
                {{"", counts.last_build_failed > 0 ? "0" : "1"}}) +
         family("dsbuild_last_build_timestamp_seconds", "gauge", "seconds",
                "When the last build ended, since the epoch.", {{"", std::to_string(counts.last_build_at)}});
}

std::string local_cache(const CacheCounts& counts) {
  return counter("dsbuild_cache_hits", "Edges whose results the cache of this machine had.", counts.hits) +
         counter("dsbuild_cache_misses", "Edges whose tools ran.", counts.misses) +
         family("dsbuild_cache_saved_cpu_seconds", "counter", "seconds",
                "CPU time that tools once took for the results that were found.",
                {{"", seconds_of(counts.saved_milliseconds)}});
}

enum class Shown { number, seconds };

// Each scope is a label.
struct RemoteFamily {
  const char *name, *unit, *help;
  uint64_t RemoteCounts::* number;
  Shown shown = Shown::number;
};

constexpr std::array<RemoteFamily, 10> k_remote_families = {
    {{"dsbuild_remote_hits", "", "Results that the shared cache had.", &RemoteCounts::hits},
     {"dsbuild_remote_misses", "", "Results that the shared cache lacked.", &RemoteCounts::misses},
     {"dsbuild_remote_saved_cpu_seconds", "seconds",
      "CPU time that tools once took for the results that came from the shared cache.",
      &RemoteCounts::saved_milliseconds, Shown::seconds},
     {"dsbuild_remote_received_bytes", "bytes", "Bytes of files that came from the shared cache.",
      &RemoteCounts::received_bytes},
     {"dsbuild_remote_sent_bytes", "bytes", "Bytes of files that went to the shared cache.",
      &RemoteCounts::sent_bytes},
     {"dsbuild_remote_requests", "", "Files that were asked for or sent.", &RemoteCounts::requests},
     {"dsbuild_remote_uploads", "", "Results that went to the shared cache.", &RemoteCounts::uploads},
     {"dsbuild_remote_renewals", "", "Entries that were written again for their age.",
      &RemoteCounts::renewals},
     {"dsbuild_remote_lost", "", "Entries of the shared cache whose files were gone.", &RemoteCounts::lost},
     {"dsbuild_remote_fallbacks", "", "Builds that went on without the shared cache.",
      &RemoteCounts::fallbacks}}};

std::string remote_cache(const std::map<std::string, RemoteCounts>& scopes) {
  std::string text;
  for (const RemoteFamily& row : k_remote_families) {
    std::vector<Sample> samples;
    for (const auto& [scope, counts] : scopes) {
      const uint64_t number = counts.*row.number;
      samples.push_back(
          {label("scope", scope), row.shown == Shown::seconds ? seconds_of(number) : std::to_string(number)});
    }
    text += family(row.name, "counter", row.unit, row.help, samples);
  }
  std::vector<Sample> refused;
  for (const auto& [scope, counts] : scopes) {
    const std::string labels = label("scope", scope) + ",";
    refused.push_back({labels + label("reason", "damaged"), std::to_string(counts.damaged)});
    refused.push_back({labels + label("reason", "untrusted"), std::to_string(counts.untrusted)});
  }
  return text + family("dsbuild_remote_refused", "counter", "",
                       "Entries of the shared cache that were refused.", refused);
}

}  // namespace

std::string render_metrics(const CacheCounts& counts) {
  return builds(counts) + last_build(counts) + local_cache(counts) +
         (counts.remote.empty() ? "" : remote_cache(counts.remote)) + "# EOF\n";
}

}  // namespace dsbuild
