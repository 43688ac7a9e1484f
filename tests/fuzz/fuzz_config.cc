// Settings files, over any text: refused with reasons, or read and shown as a file that says the same.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void CheckFaults(const std::vector<etl::Error>& faults) {
  Require(!faults.empty() && faults.size() <= etl::kSettingsFaultsMax,
          "a refusal has faults, up to the limit");
  for (const etl::Error& fault : faults) {
    Require(fault.code.starts_with("CONFIG_") && fault.where.starts_with("f.toml") && !fault.what.empty() &&
                !fault.fix.empty(),
            "a fault says what, where, why and what to do");
    Require(fault.Message().find_first_of("\n\r\x1b") == std::string::npos, "a message is one line");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<etl::Error> faults;
  const auto settings = etl::ParseSettings(text, "f.toml", {}, &faults);
  if (!settings) {
    CheckFaults(faults);
    return 0;
  }
  Require(faults.empty(), "what is read has no faults");
  const auto again = etl::ParseSettings(etl::ShowSettings(*settings), "shown.toml");
  Require(again && *again == *settings, "settings shown are the same settings");
  return 0;
}
