// Works on a store as the steps of a build do, for tests/faults/store_test.py. What an entry holds follows
// from its key and its size, so that every process can tell a right one from a wrong one.
//   store_tool FOLDER put KEY BYTES        exit code 0, whether it could be kept or not
//   store_tool FOLDER find KEY             prints "hit", "miss" or "wrong"
//   store_tool FOLDER prune BYTES          exit code 1 if it cannot
//   store_tool FOLDER churn SEED ROUNDS BYTES [LIMIT]
//                                          puts, finds and prunes keys 0 to 15 at random; exit code 1 and
//                                          "wrong" at the first entry that is wrong, else "hits N"
#include <iostream>
#include <random>

#include "base/digest.h"
#include "cache/tiered_cache.h"

namespace {

using namespace dsbuild;

std::string noise(const std::string& seed, size_t bytes) {
  std::mt19937_64 generator(std::hash<std::string>{}(seed));
  std::string text(bytes, '\0');
  for (char& byte : text)
    byte = static_cast<char>(generator());
  return text;
}

CacheEntry entry_of(const std::string& key, size_t bytes) {
  return {{".first", noise(key, bytes)}, {".second", key}};
}

std::string judge(const std::string& key, const std::optional<CacheEntry>& found) {
  if (!found) return "miss";
  const bool is_right = found->size() == 2 && *found == entry_of(key, found->front().bytes.size());
  return is_right ? "hit" : "wrong";
}

struct Churn {
  unsigned seed = 0;
  int rounds = 0;
  size_t bytes = 0;
  unsigned long long limit = 0;
};

int churn(const TieredCache& store, const Churn& work) {
  std::mt19937 generator(work.seed);
  int hits = 0;
  for (int round = 0; round < work.rounds; ++round) {
    const std::string key = sha256(std::to_string(generator() % 16));
    const unsigned what = generator() % 8;
    if (what == 0) (void)store.prune(work.limit);
    if (what >= 1 && what <= 3) store.put(key, entry_of(key, work.bytes));
    if (what < 4) continue;
    const std::string answer = judge(key, store.find(key));
    if (answer == "wrong") {
      std::cout << answer << "\n";
      return 1;
    }
    hits += answer == "hit" ? 1 : 0;
  }
  std::cout << "hits " << hits << "\n";
  return 0;
}

int run(const std::vector<std::string>& words) {
  const auto files = make_real_file_system();
  const TieredCache store(*files, words.at(0));
  const std::string& what = words.at(1);
  const std::string& first = words.at(2);
  if (what == "put") store.put(first, entry_of(first, std::stoull(words.at(3))));
  if (what == "find") std::cout << judge(first, store.find(first)) << "\n";
  if (what == "prune") return store.prune(std::stoull(first)) ? 0 : 1;
  if (what != "churn") return 0;
  const unsigned long long limit = words.size() > 5 ? std::stoull(words[5]) : ~0ULL;
  return churn(store, {static_cast<unsigned>(std::stoul(first)), std::stoi(words.at(3)),
                       std::stoull(words.at(4)), limit});
}

}  // namespace

int main(int argc, char** argv) {
  return run({argv + 1, argv + argc});
}
