// The provenance of what a build publishes.
#pragma once

#include "bundle/manifest.h"
#include "driver/plan.h"
#include "provenance/statement.h"

namespace dsbuild {

// By the plan and the records of its actions; git is asked for the commit of the pack's sources.
Statement make_statement(const Plan& plan, const Manifest& manifest, Session& session);

}  // namespace dsbuild
