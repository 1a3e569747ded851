// What waiters are told, and how long they wait.
#include "load/builder_note.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

BuilderNote note_of(double expected, bool is_recorded) {
  return {"17 dsbuild load scale", "node7", 100.5, expected, is_recorded, "3 of 10 edges"};
}

}  // namespace

TEST_CASE("A note comes back as it was told, behind the line of the lock") {
  const BuilderNote note = note_of(20.25, true);
  CHECK(parse_note(note.holder + "\n" + render_note(note)) == note);
  CHECK(parse_note(note.holder + "\n" + render_note(note) + "\n\n\n") == note);
}

TEST_CASE("A lock that says no more than who holds it has no note, nor has one that is just being written") {
  CHECK(parse_note("") == std::nullopt);
  CHECK(parse_note("17 dsbuild load scale\n") == std::nullopt);
  CHECK(parse_note("17 dsbuild load scale\nnode node7\nbegun 100500\n") == std::nullopt);
}

TEST_CASE("A name that is no line of its own does not make other lines") {
  BuilderNote note = note_of(1, true);
  note.phase = "1 of 2\nexpected 99999";
  CHECK(parse_note(note.holder + "\n" + render_note(note))->expected_seconds == 1);
}

TEST_CASE(
    "Waiters wait five times the recorded time and a minute at least, ten minutes where it is guessed") {
  const Patience patience;
  CHECK(seconds_of(patience, note_of(2, true)) == 60);
  CHECK(seconds_of(patience, note_of(100, true)) == 500);
  CHECK(seconds_of(patience, note_of(2, false)) == 600);
  CHECK(seconds_of(patience, note_of(200, false)) == 1000);
  CHECK(seconds_of(patience, note_of(0, true)) == 600);  // it is still planning
}

TEST_CASE("Who waits hears who builds what, for how long, how far it is and how long it takes") {
  CHECK(waiting_text(note_of(20.4, true), "scale", 108.6) ==
        "waiting for process 17 on node7, which has been building scale for 8 s (3 of 10 edges); it takes "
        "about "
        "20 s in all");
  CHECK(waiting_text(note_of(0.1, false), "scale", 108.6) ==
        "waiting for process 17 on node7, which has been building scale for 8 s (3 of 10 edges); it takes "
        "about "
        "1 s in all, as a guess");
  CHECK(waiting_text(note_of(0, true), "scale", 100) ==
        "waiting for process 17 on node7, which has been building scale for 0 s (3 of 10 edges)");
}
