// The driver's first value: what a caller wants to build.
#pragma once

#include <memory>

#include "registry/registry.h"
#include "settings/settings.h"

namespace dsbuild {

struct Request {
  Settings settings;
  std::string title;  // "dsbuild --ops all": shown to processes that wait for its locks
  // The registry of these settings if the caller has read it; nullptr: the driver reads it.
  std::shared_ptr<const Registry> registry{};
};

}  // namespace dsbuild
