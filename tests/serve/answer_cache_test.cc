#include "serve/answer_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace etl::serve {
namespace {

TEST(AnswerCache, KeepsAnswersOfTheNewestSequence) {
  AnswerCache cache;
  cache.Put("a", 5, JsonAnswer("1"));
  ASSERT_TRUE(cache.Find("a", 5));
  EXPECT_EQ(*cache.Find("a", 5)->body, "1");
  EXPECT_FALSE(cache.Find("b", 5));
  EXPECT_FALSE(cache.Find("a", 6));
  cache.Put("b", 4, JsonAnswer("2"));  // made from an older view
  EXPECT_FALSE(cache.Find("b", 4));
  EXPECT_FALSE(cache.Find("b", 5));
  cache.Put("b", 6, JsonAnswer("3"));
  EXPECT_TRUE(cache.Find("b", 6));
  EXPECT_FALSE(cache.Find("a", 5));
}

TEST(AnswerCache, IsBounded) {
  AnswerCache cache;
  cache.Put("large", 1, JsonAnswer(std::string(AnswerCache::kBytesMax / 4, 'x')));
  EXPECT_FALSE(cache.Find("large", 1));
  const std::string body(AnswerCache::kBytesMax / 16, 'x');
  int kept = 0;
  for (int i = 0; i < 100; ++i) cache.Put(std::to_string(i), 1, JsonAnswer(body));
  for (int i = 0; i < 100; ++i) kept += cache.Find(std::to_string(i), 1) ? 1 : 0;
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 17);
  EXPECT_TRUE(cache.Find("99", 1));
}

}  // namespace
}  // namespace etl::serve
