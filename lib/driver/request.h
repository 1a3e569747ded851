// What one caller asks for: where the way through lib/driver begins.
#pragma once

#include <memory>

#include "registry/registry.h"
#include "settings/settings.h"

namespace dsbuild {

struct Request {
  Settings settings;
  std::string title;                           // "dsbuild --ops all": named to those who wait for its locks
  std::shared_ptr<const Registry> registry{};  // of these settings, read just now; nullptr: it is to be read
};

}  // namespace dsbuild
