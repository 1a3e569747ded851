// Makes the provenance statement of a bundle that a build publishes.
#pragma once

#include "bundle/manifest.h"
#include "driver/plan.h"
#include "provenance/statement.h"

namespace dsbuild {

// Takes the facts from the plan and the records of its actions, and asks git for the commit of the pack's
// sources.
Statement make_statement(const Plan& plan, const Manifest& manifest, Session& session);

}  // namespace dsbuild
