#include "fetch/url.h"

#include <gtest/gtest.h>

namespace etl {
namespace {

TEST(ShownUrl, LeavesOutWhatMayBeASecret) {
  const struct {
    const char *url, *shown;
  } cases[] = {
      {"https://user:secret@example.org/a/b?token=secret#secret", "https://example.org/a/b"},
      {"https://example.org/a@b/c", "https://example.org/a@b/c"},
      {"https://a:b@c@example.org", "https://example.org"},
      {"//user:secret@example.org/x", "//example.org/x"},
      {"/next?signature=secret", "/next"},
      {"https://[::1]:8080/x?y", "https://[::1]:8080/x"},
      {"", ""},
      {"?secret", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(ShownUrl(c.url), c.shown) << c.url;
}

}  // namespace
}  // namespace etl
