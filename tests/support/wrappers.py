"""Compilers that stand in front of another one, and start it: programs and scripts."""

import pathlib
import subprocess

# Beside it, by the name that it is started with, so that one program may be several: NAME.target is what it starts,
# NAME.options what it puts in front. Then come the words of SITE_OPTIONS and SPACK_OPTIONS, and those of the file
# .site-options in the current folder or one of two above.
PROGRAM = r"""
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char* all[4096];
static int number = 1;

static void add_words(char* text) {
  for (char* word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) all[number++] = word;
}

static char* read_all(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) return NULL;
  char* text = calloc(1, 1 << 16);
  fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  return text;
}

int main(int count, char** words) {
  char own[4096] = "", path[8192], name[4096];
  readlink("/proc/self/exe", own, sizeof own - 1);
  char* folder = dirname(own);
  char* text;
  snprintf(name, sizeof name, "%s", words[0]);
  snprintf(path, sizeof path, "%s/%s.options", folder, basename(name));
  if ((text = read_all(path))) add_words(text);
  for (const char* const* variable = (const char* const[]){"SITE_OPTIONS", "SPACK_OPTIONS", NULL}; *variable; ++variable)
    if (getenv(*variable)) add_words(strdup(getenv(*variable)));
  for (const char* const* up = (const char* const[]){".", "..", "../..", NULL}; *up; ++up) {
    snprintf(path, sizeof path, "%s/.site-options", *up);
    if ((text = read_all(path))) {
      add_words(text);
      break;
    }
  }
  for (int i = 1; i < count; ++i) all[number++] = words[i];
  snprintf(name, sizeof name, "%s", words[0]);
  snprintf(path, sizeof path, "%s/%s.target", folder, basename(name));
  all[0] = strtok(read_all(path), "\n");
  execv(all[0], all);
  return 127;
}
"""

SCRIPT = """#!/bin/sh
folder=$(dirname "$0")
name=$(basename "$0")
for up in . .. ../..; do
  if [ -f "$up/.site-options" ]; then
    here=$(cat "$up/.site-options")
    break
  fi
done
exec "$(cat "$folder/$name.target")" $(cat "$folder/$name.options") $SITE_OPTIONS $SPACK_OPTIONS $here "$@"
"""


class Wrapper:
    """`kind`: program or script."""

    def __init__(self, path, target, kind="program", options=""):
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "program":
            subprocess.run(["gcc", "-O1", "-w", "-xc", "-", "-o", self.path], input=PROGRAM.encode(), check=True)
        else:
            self.path.write_text(SCRIPT)
            self.path.chmod(0o755)
        self.start(target)
        self.put_first(options)

    def _write(self, what, text):
        """Another file, so that nobody sees half of it."""
        new = self.path.with_name("new")
        new.write_text(text)
        new.replace(self.path.with_name(f"{self.path.name}.{what}"))

    def start(self, target):
        self._write("target", f"{target}\n")

    def put_first(self, options):
        self._write("options", f"{options}\n")
