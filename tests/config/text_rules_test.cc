#include "config/text_rules.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/settings.h"

namespace etl::config {
namespace {

struct Rule {
  std::string section, name;
  std::vector<std::string> good, bad;
};

const Rule kRules[] = {
    {"store", "dir", {"/", "/srv/a b", "/ü"}, {"", "relative", "./x", "~/x", "/a\\u0000b"}},
    {"fetch", "ca_file", {"", "/etc/ssl/ca.pem"}, {"ca.pem"}},
    {"control", "socket", {"/" + std::string(106, 's')}, {"", "/" + std::string(107, 's')}},
    {"fetch",
     "contact",
     {"", "me@example.org", "first.last+etld@mail.example.org", "https://example.org/about?x=1#y",
      "https://example.org"},
     {"me", "@example.org", "me@", "me@exa mple", "http://example.org", "https://", "https:///x",
      "me@example.org)", "me@example.org\\r\\nX: 1", "ü@example.org", "me@a@b", "a@b.org; c",
      "a@" + std::string(63, 'h') + "." + std::string(200, 'x')}},
    {"source.a",
     "base_url",
     {"", "https://example.org", "https://example.org/api/", "https://example.org:8443/api",
      "http://localhost:1/x", "http://127.0.0.1", "http://127.9.9.9:65535/", "http://[::1]:80/",
      "https://[2001:db8::1]/x"},
     {"example.org",
      "ftp://example.org",
      "http://example.org",
      "http://127.0.0.1.example.org/",
      "http://127.1/",
      "http://[::2]/",
      "https://",
      "https:///x",
      "https://user@example.org/",
      "https://example.org/?q",
      "https://example.org/#f",
      "https://example.org:0/",
      "https://example.org:65536/",
      "https://example.org:/",
      "https://example.org:8x/",
      "https://exa mple.org/",
      "https://example.org/ü",
      "https://[::1",
      "https://[]/",
      "https://-a.org/",
      "https://a..b/",
      "HTTPS://example.org",
      "https://" + std::string(2000, 'x')}},
    {"serve",
     "listen_address",
     {"127.0.0.1", "0.0.0.0", "::", "::1"},
     {"", "localhost", "127.1", "1.2.3.4:80", "[::1]", "::1\\u0000"}},
    {"control", "read_group", {"etld", "_g-1"}, {"", "1etld", "Etld", "a b", std::string(33, 'g')}},
    {"log", "level", {"trace", "error"}, {"", "INFO", "loud"}},
    {"log", "format", {"auto", "journald", "json"}, {"text"}},
};

TEST(TextRules, TakeWhatIsRightAndRefuseTheRest) {
  for (const Rule& rule : kRules) {
    const auto file = [&](const std::string& text) {
      return "[" + rule.section + "]\n" + rule.name + " = \"" + text + "\"\n";
    };
    for (const std::string& text : rule.good) {
      const Result<Settings> settings = ParseSettings(file(text), "t.toml");
      EXPECT_TRUE(settings) << settings.error().Message();
    }
    for (const std::string& text : rule.bad) {
      const Result<Settings> settings = ParseSettings(file(text), "t.toml");
      ASSERT_FALSE(settings) << rule.name << " " << text;
      EXPECT_EQ(settings.error().code, "CONFIG_VALUE") << settings.error().Message();
      EXPECT_EQ(settings.error().where, "t.toml:2");
      EXPECT_NE(settings.error().fix, "");
    }
  }
}

TEST(TextRules, NameTheNearestWord) {
  const Result<Settings> settings = ParseSettings("[log]\nlevel = \"warn1ng\"\n", "t.toml");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().Message(),
            "CONFIG_VALUE at t.toml:2: log.level is \"warn1ng\", and must be one of trace, debug, info, "
            "warning, error; "
            "correct it, or did you mean \"warning\"?");
}

TEST(TextRules, TakeHostNamesAndNothingAroundThem) {
  for (const std::string host : {"example.org", "EXAMPLE.org", "a", "1.2.3.4", "x-y.z"})
    EXPECT_TRUE(IsHost(host)) << host;
  for (const std::string host :
       {"", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a:80", "https://a", "*.a", "[::1]", "ü"})
    EXPECT_FALSE(IsHost(host)) << host;
  EXPECT_TRUE(IsHost(std::string(63, 'a')));
  EXPECT_FALSE(IsHost(std::string(64, 'a')));
  std::string longest;
  for (int i = 0; i < 126; ++i) longest += "a.";
  EXPECT_TRUE(IsHost(longest + "a"));
  EXPECT_FALSE(IsHost(longest + "ab"));

  const auto hosts = [](const std::string& list) {
    const Result<Settings> settings = ParseSettings("[source.a]\nallowed_hosts = [" + list + "]\n", "t.toml");
    return settings ? std::string() : settings.error().code;
  };
  EXPECT_EQ(hosts(R"("good.org", "https://bad.org")"), "CONFIG_VALUE");
  std::string many;
  for (int i = 0; i < 32; ++i) many += "\"h\",\n";
  EXPECT_EQ(hosts(many), "");
  EXPECT_EQ(hosts(many + "\"h\""), "CONFIG_RANGE");
}

}  // namespace
}  // namespace etl::config
