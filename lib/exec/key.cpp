#include "exec/key.h"

#include "base/digest.h"

namespace dsbuild {

Key& Key::add(std::string name, std::string value) {
  parts.push_back({std::move(name), std::move(value)});
  return *this;
}

Key& Key::add_bytes(std::string name, std::string_view bytes) {
  return add(std::move(name), sha256(bytes));
}

Key Key::with(std::string_view name, std::string value) const {
  Key changed = *this;
  for (KeyPart& part : changed.parts)
    if (part.name == name) part.value = value;
  return changed;
}

std::string Key::digest() const {
  std::string text;
  for (const KeyPart& part : parts)
    text += part.name + '\0' + part.value + '\0';
  return sha256(text);
}

}  // namespace dsbuild
