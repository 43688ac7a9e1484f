#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "serve/http.h"

namespace etl::serve {

// Answers that hold while the store stays at the sequence they were made at, so that what is asked again and
// again is made once. All are dropped with the first of a newer sequence, and when they would take more than
// kBytesMax. Any thread.
class AnswerCache {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{8} << 20;

  std::optional<Response> Find(const std::string& key, std::uint64_t sequence) const;
  // Kept only when it is made at the newest sequence that was seen, and takes at most an eighth of the room.
  void Put(const std::string& key, std::uint64_t sequence, const Response& response);

 private:
  mutable std::mutex mutex_;
  std::uint64_t sequence_ = 0;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Response> answers_;
};

}  // namespace etl::serve
