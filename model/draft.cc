#include "model/draft.h"

#include <array>

namespace etl {
namespace {

// In the order of EntryState.
constexpr std::array<std::string_view, 3> kEntryStateNames = {"passed", "excluded", "pending"};

}  // namespace

std::string_view EntryStateName(EntryState state) noexcept {
  const auto index = static_cast<std::size_t>(state);
  return index < kEntryStateNames.size() ? kEntryStateNames[index] : std::string_view("unknown");
}

std::optional<EntryState> ParseEntryState(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kEntryStateNames.size(); ++i) {
    if (kEntryStateNames[i] == name) return static_cast<EntryState>(i);
  }
  return std::nullopt;
}

}  // namespace etl
