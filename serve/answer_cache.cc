#include "serve/answer_cache.h"

namespace etl::serve {
namespace {

constexpr std::size_t kEntryBytes = 512;  // what an answer takes beside its body and its key

}  // namespace

std::optional<Response> AnswerCache::Find(const std::string& key, std::uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  if (sequence != sequence_) return std::nullopt;
  const auto found = answers_.find(key);
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

void AnswerCache::Put(const std::string& key, std::uint64_t sequence, const Response& response) {
  const std::size_t bytes = key.size() + response.bytes() + kEntryBytes;
  const std::lock_guard lock(mutex_);
  if (sequence < sequence_ || bytes > kBytesMax / 8) return;
  if (sequence > sequence_ || bytes_ + bytes > kBytesMax) {
    answers_.clear();
    bytes_ = 0;
    sequence_ = sequence;
  }
  if (answers_.emplace(key, response).second) bytes_ += bytes;
}

}  // namespace etl::serve
