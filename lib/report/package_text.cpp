#include "report/json_parts.h"

namespace dsbuild {
namespace {

std::string package_lines(const Package& package) {
  std::string text = package.name + " " + package.version + "\n" + "ops      " + join(package.ops, ", ") +
                     "\n" + "for      " + package.runs_with + "\n";
  if (!package.left_out.empty())
    text += "without  " + join(package.left_out, ", ") + " (no Python modules)\n";
  text += "platform " + split(package.tag, "-").back() + "\n";
  if (!package.license.empty()) text += "licence  " + package.license + "\n";
  if (!package.requirements.empty()) text += "requires " + join(package.requirements, ", ") + "\n";
  if (!package.outside.empty())
    text +=
        "outside  " + join(package.outside, ", ") + " (needed; not in it, and not promised by manylinux)\n";
  return text;
}

Json package_json(const Package& package) {
  Json json = json_document();
  json["name"] = package.name;
  json["version"] = package.version;
  json["tag"] = package.tag;
  json["ops"] = package.ops;
  json["left_out"] = package.left_out;
  json["outside"] = package.outside;
  json["license"] = package.license.empty() ? Json(nullptr) : Json(package.license);
  json["requires"] = package.requirements;
  json["requires_python"] = package.requires_python;
  return json;
}

}  // namespace

std::string render_wheel(const Package& package, const WrittenWheel& wheel) {
  const std::string path = wheel.path.string();
  return package_lines(package) + path + " (" + human_size(wheel.bytes) + ")\nnext: pip install " +
         shell_quote(path) + "\n";
}

std::string render_wheel_json(const Package& package, const WrittenWheel& wheel) {
  Json json = package_json(package);
  json["wheel"] = wheel.path.string();
  json["bytes"] = wheel.bytes;
  json["warnings"] = warnings_json(package.warnings);
  return json_line(json);
}

std::string render_installed(const Package& package, const std::string& target) {
  return package_lines(package) + "installed in " + target +
         "\nto remove it: " + own_command({"install", "--remove", "--target", target}) + "\n";
}

std::string render_installed_json(const Package& package, const std::string& target,
                                  const std::vector<Warning>& warnings) {
  Json json = package_json(package);
  json["target"] = target;
  json["warnings"] = warnings_json(warnings);
  return json_line(json);
}

std::string render_removed(const std::vector<std::string>& removed, const std::string& target) {
  std::string text;
  for (const std::string& distribution : removed)
    text += "removed " + distribution + " from " + target + "\n";
  return text;
}

std::string render_removed_json(const std::vector<std::string>& removed, const std::string& target) {
  Json json = json_document();
  json["removed"] = removed;
  json["target"] = target;
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string render_removed_folders_json(const std::vector<Path>& folders) {
  Json json = json_document();
  json["removed"] = Json::array();
  for (const Path& folder : folders)
    json["removed"].push_back(folder.string());
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string render_new_op(const NewOp& made) {
  std::string text;
  for (const std::string& file : made.files)
    text += "wrote " + file + "\n";
  return text + "next: " + made.next + "\n";
}

std::string render_new_op_json(const NewOp& made) {
  Json json = json_document();
  json["op"] = made.name;
  json["files"] = made.files;
  json["next"] = made.next;
  json["warnings"] = Json::array();
  return json_line(json);
}

std::string render_new_pack(const WrittenProject& written, const std::string& next) {
  return "wrote " + written.pack_file.string() + " (" + plural(written.pack.ops, "op") + ")\nnext: " + next +
         "\n";
}

std::string render_new_pack_json(const WrittenProject& written, const std::string& next) {
  Json json = json_document();
  json["files"] = std::vector<std::string>{written.pack_file.string()};
  json["ops"] = written.pack.ops;
  json["archs"] = written.pack.archs;
  json["said"] = written.pack.said;
  json["next"] = next;
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
