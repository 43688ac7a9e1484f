#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "etlctl/commands.h"

namespace etl::ctl {

// What a shell offers while a command line is typed.
struct Candidate {
  std::string text;
  std::string about;  // one line, may be empty
};

// Kinds of names that are known only while running.
enum class Names : std::uint8_t { kSources, kKernels, kGroups, kObjects };

inline constexpr std::size_t kCandidatesMax = 1000;

// The names that begin with `prefix`, in order, at most kCandidatesMax. Sources are those that adapters read,
// kernels those with a comparison group. Groups are given by their hex digits, with their kernel as
// `about`; objects by theirs, once four of them are there. What cannot be read, as where there is no store,
// gives no names: a shell has nowhere to show an error.
std::vector<Candidate> NamesLike(const Session& session, Names names, std::string_view prefix);

}  // namespace etl::ctl
