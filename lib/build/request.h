// What one caller asks for: where the way through lib/build begins.
#pragma once

#include "settings/settings.h"

namespace dsbuild {

struct Request {
  Settings settings;
  std::string title;  // "dsbuild --ops all": named to those who wait for its locks
};

}  // namespace dsbuild
