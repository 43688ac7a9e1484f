#include "fetch/robots.h"

#include <string>

#include <gtest/gtest.h>

namespace etl::test {
namespace {

bool Allows(const std::string& text, const std::string& target) {
  return RobotsRules::Parse(text, "etld").Allows(target);
}

TEST(Robots, TheGroupThatNamesTheCrawlerGoesBeforeTheOneForAll) {
  const std::string text = "User-agent: *\nDisallow: /\n\nUSER-AGENT: ETLD/2.0\nDisallow: /private\n";
  EXPECT_TRUE(Allows(text, "/x"));
  EXPECT_FALSE(Allows(text, "/private/x"));
  EXPECT_FALSE(RobotsRules::Parse(text, "other").Allows("/x"));
  EXPECT_FALSE(Allows("User-agent: etldx\nAllow: /\nUser-agent: *\nDisallow: /", "/x"));
}

TEST(Robots, GroupsForTheSameCrawlerAreOne) {
  const std::string text =
      "User-agent: a\nUser-agent: etld\nSitemap: x\nDisallow: /one\n\nUser-agent: b\nDisallow: /two\n"
      "User-agent: etld\nDisallow: /three\n";
  EXPECT_FALSE(Allows(text, "/one"));
  EXPECT_TRUE(Allows(text, "/two"));
  EXPECT_FALSE(Allows(text, "/three"));
}

TEST(Robots, WithoutRulesEverythingIsAllowed) {
  for (const char* text :
       {"", "\n\n", "Disallow: /\n", "User-agent: *\nDisallow:\n", "User-agent: x\nDisallow: /\n",
        "<html>User-agent</html>", "User-agent: *\nAllow: /x"}) {
    EXPECT_TRUE(Allows(text, "/y")) << text;
  }
  EXPECT_TRUE(RobotsRules().Allows("/"));
  EXPECT_TRUE(Allows("User-agent: *\nDisallow: /", "/robots.txt"));
}

TEST(Robots, TheLongestRuleDecidesAndAllowWinsATie) {
  const auto allows = [](const std::string& rules, const std::string& target) {
    return Allows("User-agent: *\n" + rules, target);
  };
  EXPECT_TRUE(allows("Disallow: /a\nAllow: /a/b", "/a/b/c"));
  EXPECT_FALSE(allows("Disallow: /a\nAllow: /a/b", "/a/c"));
  EXPECT_FALSE(allows("Allow: /a\nDisallow: /a/b", "/a/b"));
  EXPECT_TRUE(allows("Disallow: /a\nAllow: /a", "/a"));
  EXPECT_TRUE(allows("Allow: /a\nDisallow: /a", "/a"));
  EXPECT_FALSE(allows("Disallow: /\nAllow: /$", "/a"));
  EXPECT_TRUE(allows("Disallow: /\nAllow: /$", "/"));
}

TEST(Robots, StarsAndDollars) {
  struct Case {
    const char* pattern;
    const char* target;
    bool matches;
  };
  for (const Case& one : std::initializer_list<Case>{{"/fish", "/fish.html", true},
                                                     {"/fish", "/Fish", false},
                                                     {"/fish*", "/fishheads", true},
                                                     {"/fish/", "/fish", false},
                                                     {"/*.php", "/a/b.php?x", true},
                                                     {"/*.php", "/windows.PHP", false},
                                                     {"/*.php$", "/a.php", true},
                                                     {"/*.php$", "/a.php?x", false},
                                                     {"/*.php$", "/a.php/b.php", true},
                                                     {"/fish*.php", "/fish/a.php", true},
                                                     {"/a*b*c$", "/aXbYc", true},
                                                     {"/a*b*c$", "/aXcYb", false},
                                                     {"/a*b$", "/ab", true},
                                                     {"/a*ab$", "/ab", false},
                                                     {"*", "/x", true},
                                                     {"/**/x", "/a/x", true},
                                                     {"/a$b", "/a$b", true},
                                                     {"/x?y=*&z", "/x?y=1&z", true}}) {
    EXPECT_EQ(!Allows(std::string("User-agent: *\nDisallow: ") + one.pattern, one.target), one.matches)
        << one.pattern << " " << one.target;
  }
}

TEST(Robots, SpellingsOfTheSamePathAreTheSame) {
  const auto refuses = [](const std::string& pattern, const std::string& target) {
    return !Allows("User-agent: *\nDisallow: " + pattern, target);
  };
  EXPECT_TRUE(refuses("/caf\xC3\xA9", "/caf%c3%A9"));
  EXPECT_TRUE(refuses("/%7Ejoe", "/~joe"));
  EXPECT_TRUE(refuses("/~joe", "/%7ejoe"));
  EXPECT_FALSE(refuses("/a%2Fb", "/a/b"));
  EXPECT_TRUE(refuses("/a%2fb", "/a%2Fb"));
}

TEST(Robots, ReadsEveryLineEndCommentsAndAByteOrderMark) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string text = std::string("\xEF\xBB\xBFUser-agent :  * # all") + end + "# note" + end +
                             "  disallow\t:\t/x  # why" + end + "Disallow /z" + end;
    EXPECT_FALSE(Allows(text, "/x"));
    EXPECT_TRUE(Allows(text, "/z"));
  }
}

TEST(Robots, WhatIsBehindTheLimitIsNotRead) {
  const std::string head = "User-agent: *\n";
  const std::string rule = "Disallow: /x\n";
  const std::string filler(RobotsRules::kBytesMax - head.size() - rule.size() - 1, '#');
  EXPECT_FALSE(Allows(head + filler + "\n" + rule, "/x"));
  EXPECT_TRUE(Allows(head + filler + std::string(20, '#') + "\n" + rule, "/x"));
}

TEST(Robots, ManyStarsCostNoMoreThanTheirLength) {
  std::string pattern = "/";
  for (int i = 0; i < 100'000; ++i) pattern += "*a";
  EXPECT_TRUE(Allows("User-agent: *\nDisallow: " + pattern + "b", "/" + std::string(2000, 'a')));
}

}  // namespace
}  // namespace etl::test
