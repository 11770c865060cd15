#include "tests/support/kernel_names.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

#include "platform/simt_hooks.h"

namespace engram::test {
namespace {

std::string demangled(const char* symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  const std::string result = text != nullptr ? text : symbol;
  std::free(text);
  return result;
}

// As tests/support/kernel_figures.py: "dot_rows<1, 1>" of "void engram::...::dot_rows_kernel<1, 1>(".
std::string short_name(const std::string& symbol) {
  const std::string text =
      std::regex_replace(symbol, std::regex("\\(anonymous namespace\\)"), "anonymous");
  std::smatch match;
  if (!std::regex_search(text, match, std::regex("::(\\w+)_kernel(<[^(]*>)?\\("))) return {};
  return match[1].str() + std::regex_replace(match[2].str(), std::regex("unsigned char"), "byte");
}

// Functions of the files X_simt.cpp in this program, by their place in it.
std::map<std::uintptr_t, std::string> read_kernels() {
  std::map<std::uintptr_t, std::string> kernels;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  Elf64_Ehdr head;
  if (bytes.size() < sizeof head) return kernels;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr one;
    std::memcpy(&one, bytes.data() + head.e_shoff + index * sizeof one, sizeof one);
    return one;
  };
  for (std::size_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const char* const texts = bytes.data() + section(table.sh_link).sh_offset;
    std::string operation;  // local symbols come after the file that they are of
    for (std::size_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + table.sh_offset + at, sizeof symbol);
      const char* const name = texts + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
        const std::string path = name;
        const auto end = path.find("_simt.cpp");
        operation = end == std::string::npos ? "" : path.substr(0, end);
      } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && !operation.empty()) {
        const std::string kernel = short_name(demangled(name));
        if (!kernel.empty()) kernels[symbol.st_value] = operation + "." + kernel;
      }
    }
  }
  return kernels;
}

std::set<const void*> launched;
double threads_run = 0;

}  // namespace

std::string kernel_name(const void* kernel) {
  static const std::map<std::uintptr_t, std::string> kernels = read_kernels();
  Dl_info info{};
  if (dladdr(kernel, &info) == 0) return {};
  const auto place = reinterpret_cast<std::uintptr_t>(kernel);
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  for (const std::uintptr_t at : {place - base, place}) {  // loaded anywhere, or where it says
    if (const auto found = kernels.find(at); found != kernels.end()) return found->second;
  }
  return {};
}

WatchedLaunches::WatchedLaunches() {
  launched.clear();
  threads_run = 0;
  simt::hooks().launched = [](const simt::Launch& launch) {
    const void* kernel = nullptr;
    std::memcpy(&kernel, launch.arguments, sizeof kernel);
    launched.insert(kernel);
    threads_run += double(launch.grid.x) * launch.grid.y * launch.grid.z * launch.block.x *
                   launch.block.y * launch.block.z;
  };
}

WatchedLaunches::~WatchedLaunches() {
  simt::hooks().launched = nullptr;
}

std::set<std::string> WatchedLaunches::names() const {
  std::set<std::string> names;
  for (const void* kernel : launched) names.insert(kernel_name(kernel));
  return names;
}

double WatchedLaunches::threads() const {
  return threads_run;
}

}  // namespace engram::test
