#include "provenance/sbom.h"

#include "base/text.h"
#include "sys/clock.h"

namespace dsbuild {

std::string render_sbom(const Components& components, const std::string& created, SbomFormat format) {
  return format == SbomFormat::spdx ? render_spdx(components, created)
                                    : render_cyclonedx(components, created);
}

std::string time_of_sbom(const Statement& statement, const std::string& source_date_epoch) {
  for (const std::string& seconds : {source_date_epoch, statement.request.source_date_epoch})
    if (const auto number = whole_number<int64_t>(seconds)) return utc_text(*number);
  return statement.run.finished;
}

}  // namespace dsbuild
