#include "fetch/response_head.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fetch/url.h"

namespace etl::test {
namespace {

struct ReadHead {
  HeadFault fault = HeadFault::kNone;
  ResponseHead head;
};

ReadHead Read(const std::vector<std::string>& lines, std::uint64_t bytes_max = 4096) {
  ReadHead read;
  read.head.Start(bytes_max);
  for (const std::string& line : lines) {
    read.fault = read.head.Line(line + "\r\n");
    if (read.fault != HeadFault::kNone) break;
  }
  return read;
}

TEST(ResponseHead, ReadsWhatIsNeeded) {
  const auto [fault, head] =
      Read({"HTTP/1.1 200 OK", "etag: W/\"x y\"", "LAST-MODIFIED:  Sun, 06 Nov 1994 08:49:37 GMT ",
            "Content-Length: 12", "Content-Encoding: X-GZIP", "Retry-After: 7", "Location: /b", ""});
  EXPECT_EQ(fault, HeadFault::kNone);
  EXPECT_TRUE(head.complete());
  EXPECT_EQ(head.status(), 200);
  EXPECT_EQ(head.validators(), (Validators{"W/\"x y\"", "Sun, 06 Nov 1994 08:49:37 GMT"}));
  EXPECT_EQ(head.content_length(), 12U);
  EXPECT_EQ(head.coding(), ContentCoding::kGzip);
  EXPECT_EQ(head.retry_after(), "7");
  EXPECT_EQ(head.location(), "/b");
  EXPECT_FALSE(head.redirects());
  EXPECT_TRUE(head.has_end());
}

TEST(ResponseHead, IsCompleteOnlyBehindAFinalHead) {
  EXPECT_FALSE(Read({"HTTP/1.1 200 OK", "A: b"}).head.complete());
  EXPECT_FALSE(Read({"HTTP/1.1 103 Early Hints", "ETag: \"early\"", ""}).head.complete());
  const auto read =
      Read({"HTTP/1.1 103 Early Hints", "ETag: \"early\"", "", "HTTP/1.1 404 No", "", "ETag: \"trailer\""});
  EXPECT_TRUE(read.head.complete());
  EXPECT_EQ(read.head.status(), 404);
  EXPECT_TRUE(read.head.validators().empty());
  EXPECT_FALSE(read.head.has_end());
}

TEST(ResponseHead, ValidatorsThatContradictOrCannotBeSentAreNone) {
  for (const std::vector<std::string>& lines :
       std::vector<std::vector<std::string>>{{"ETag: \"a\"", "ETag: \"b\""},
                                             {"ETag: \"a\"", "ETag: \"b\"", "ETag: \"b\""},
                                             {"ETag:"},
                                             {"ETag: \"\x01\""},
                                             {"ETag: \"" + std::string(2000, 'x') + "\""}}) {
    std::vector<std::string> all = {"HTTP/1.1 200 OK"};
    all.insert(all.end(), lines.begin(), lines.end());
    EXPECT_TRUE(Read(all).head.validators().empty()) << lines[0];
  }
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "ETag: \"a\"", "ETag: \"a\""}).head.validators().etag, "\"a\"");
}

TEST(ResponseHead, RefusesCodingsOnlyWhereTheBodyMatters) {
  for (const char* coding : {"br", "zstd", "gzip, gzip", "gzip,deflate", "compress"}) {
    const std::string line = std::string("Content-Encoding: ") + coding;
    EXPECT_EQ(Read({"HTTP/1.1 200 OK", line, ""}).fault, HeadFault::kCoding) << coding;
    EXPECT_EQ(Read({"HTTP/1.1 404 No", line, ""}).fault, HeadFault::kCoding) << coding;
    for (const char* status : {"304", "429", "500", "503"})
      EXPECT_EQ(Read({std::string("HTTP/1.1 ") + status + " x", line, ""}).fault, HeadFault::kNone) << status;
    EXPECT_EQ(Read({"HTTP/1.1 301 Moved", "Location: /x", line, ""}).fault, HeadFault::kNone);
  }
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Encoding: gzip", ""}).fault,
            HeadFault::kCoding);
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "Content-Encoding: identity", ""}).head.coding(),
            ContentCoding::kIdentity);
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"}).fault, HeadFault::kCoding);
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "Transfer-Encoding: Chunked"}).fault, HeadFault::kNone);
}

TEST(ResponseHead, RefusesContradictionsAndTooMuch) {
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "Content-Length: 1", "Content-Length: 2"}).fault, HeadFault::kProtocol);
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", "Content-Length: 1", "Content-Length: 1"}).fault, HeadFault::kNone);
  for (const char* status : {"200 OK", "304 Not Modified", "503 Busy"})
    EXPECT_EQ(Read({std::string("HTTP/1.1 ") + status, "Transfer-Encoding: chunked", "Content-Length: 1", ""})
                  .fault,
              HeadFault::kProtocol)
        << status;
  EXPECT_EQ(Read({"HTTP/1.1 103 Early Hints", "Content-Length: 1", "", "HTTP/1.1 200 OK",
                  "Transfer-Encoding: chunked", ""})
                .fault,
            HeadFault::kNone)
      << "a length of another head";
  for (const char* length : {"-1", "+1", "1x", "", "99999999999999999999999"})
    EXPECT_EQ(Read({"HTTP/1.1 200 OK", std::string("Content-Length: ") + length}).fault, HeadFault::kProtocol)
        << length;
  for (const char* line :
       {"HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 xyz", "HTTP/1.1 099 OK"})
    EXPECT_EQ(Read({line}).fault, HeadFault::kProtocol) << line;
  EXPECT_EQ(Read({"HTTP/1.1 200 OK", std::string(110, 'x')}, 128).fault, HeadFault::kTooLarge);
}

TEST(Url, IsTakenApart) {
  const auto url = ParseUrl("HTTPS://Example.ORG:8443/a/../b?c=d#e");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "example.org");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/b?c=d");
  EXPECT_EQ(url->Text(), "https://example.org:8443/b?c=d");
  EXPECT_EQ(ParseUrl("http://[::1]")->Text(), "http://[::1]/");
  EXPECT_EQ(ParseUrl("http://[::1]")->Authority(), "[::1]:80");
  for (const char* text :
       {"", "example.org", "/a", "ftp://a/", "file:///a", "https://", "https://u@a/", "https://u:p@a/",
        "https://a:0/", "https://a:70000/", "https://caf\xC3\xA9/", "https://a b/"}) {
    EXPECT_FALSE(ParseUrl(text)) << text;
  }
  EXPECT_FALSE(ParseUrl("https://a/" + std::string(9000, 'x')));
  EXPECT_FALSE(ParseUrl(std::string_view("https://a/\0b", 12)));
}

TEST(Url, ALocationIsResolvedAgainstItsResponse) {
  const Url base = *ParseUrl("https://a.org/x/y?z");
  const auto resolve = [&](const char* location) {
    const auto url = ResolveLocation(base, location);
    return url ? url->Text() : "none";
  };
  EXPECT_EQ(resolve("b"), "https://a.org/x/b");
  EXPECT_EQ(resolve("/b?c"), "https://a.org/b?c");
  EXPECT_EQ(resolve("?q"), "https://a.org/x/y?q");
  EXPECT_EQ(resolve("../../../b"), "https://a.org/b");
  EXPECT_EQ(resolve("//b.org/c"), "https://b.org/c");
  EXPECT_EQ(resolve("http://b.org:81/"), "http://b.org:81/");
  EXPECT_EQ(resolve("/a b"), "https://a.org/a%20b");
  EXPECT_EQ(resolve(""), "none");
  EXPECT_EQ(resolve("mailto:a@b"), "none");
  EXPECT_EQ(resolve("https://u:p@b.org/"), "none");
}

}  // namespace
}  // namespace etl::test
