// Runs one fuzz target everywhere, with any compiler: its seeds, then mutations of them. The same
// arguments give the same inputs, so that a failure can be repeated.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include <unistd.h>

#include "platform/file.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

std::string current_input;  // for the report of a crash

void report_crash(int signal) {
  // Only calls that are allowed in a signal handler.
  constexpr char kWords[] = "fuzz_driver: the input follows, in hexadecimal\n";
  ssize_t ignored = ::write(2, kWords, sizeof(kWords) - 1);
  for (const unsigned char byte : current_input) {
    const char digits[2] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    ignored = ::write(2, digits, 2);
  }
  ignored = ::write(2, "\n", 1);
  static_cast<void>(ignored);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t rounds = 1 + below(4); rounds > 0; --rounds) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(text.size() - at, std::size_t{1} << below(9));
    switch (below(8)) {
      case 0:  // flip a bit
        if (!text.empty()) text[at] = char(text[at] ^ (1 << below(8)));
        break;
      case 1:  // a byte of noise
        if (!text.empty()) text[at] = char(random_());
        break;
      case 2:  // a number from the edges, 1 to 8 bytes wide
        put_edge(text, at);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.erase(at, length);
        break;
      case 5:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 6:  // noise, or one byte many times
        text.insert(at, length, char(random_()));
        break;
      default: {  // a piece of another seed
        const std::string& other = seeds_[below(seeds_.size())];
        text.insert(at, other.substr(below(other.size()), length));
      }
    }
  }

  void put_edge(std::string& text, std::size_t at) {
    constexpr std::uint64_t kEdges[] = {0,
                                        1,
                                        0x7f,
                                        0x80,
                                        0xff,
                                        0x7fff,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0x7fffffffffffffff,
                                        ~0ull};
    const std::uint64_t value = kEdges[below(std::size(kEdges))] - below(2);
    const std::size_t width = std::min(text.size() - at, std::size_t{1} << below(4));
    std::memcpy(text.data() + at, &value, width);
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

void run(const std::string& input) {
  current_input = input;
  // An own allocation of the exact size: AddressSanitizer sees a read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int write_seeds(const std::vector<std::string>& seeds, const std::string& directory) {
  engram::Status status = engram::make_directories(directory);
  for (std::size_t i = 0; i < seeds.size() && status.ok(); ++i) {
    status = engram::replace_file(directory + "/seed" + std::to_string(i),
                                  std::as_bytes(std::span(seeds[i])));
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.what());
  return status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char* argv[]) {
  const std::vector<std::string> seeds = fuzz_seeds();
  if (argc == 3 && std::strcmp(argv[1], "--write-seeds") == 0) return write_seeds(seeds, argv[2]);

  const long executions = argc > 1 ? std::atol(argv[1]) : 20000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, report_crash);
  run("");
  for (const std::string& input : seeds) run(input);
  Mutator mutator(seeds, seed);
  for (long i = 0; i < executions; ++i) run(mutator.next());
  std::printf("%ld executions, %zu seeds\n", executions + long(seeds.size()) + 1, seeds.size());
  return 0;
}
