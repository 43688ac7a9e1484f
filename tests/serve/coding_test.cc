#include "serve/coding.h"

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

namespace etl::serve {
namespace {

std::string Header(const Response& response, std::string_view name) {
  for (const auto& [field, value] : response.headers)
    if (field == name) return value;
  return {};
}

Response Answered(const std::string& body, std::string_view accept_encoding) {
  Response response = JsonAnswer(body);
  response.Header("ETag", "\"a:1\"");
  Encode(response, accept_encoding);
  return response;
}

std::string Unzstd(const std::string& coded) {
  std::string out(1 << 20, '\0');
  const std::size_t bytes = ZSTD_decompress(out.data(), out.size(), coded.data(), coded.size());
  return ZSTD_isError(bytes) != 0 ? std::string() : out.substr(0, bytes);
}

std::string Gunzip(const std::string& coded) {
  z_stream stream{};
  std::string out(1 << 20, '\0');
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return end == Z_STREAM_END ? out : std::string();
}

TEST(Encode, TakesTheBestCodingOfTheClient) {
  const std::string body(5000, 'a');
  for (const char* accepted : {"zstd", "gzip, ZSTD", "br, zstd;q=0.1, gzip;q=1"}) {
    const Response response = Answered(body, accepted);
    EXPECT_EQ(Header(response, "Content-Encoding"), "zstd") << accepted;
    EXPECT_EQ(Unzstd(*response.body), body);
    EXPECT_EQ(Header(response, "ETag"), "\"a:1-zstd\"");
  }
  for (const char* accepted : {"gzip", "deflate, gzip;q=0.5", "zstd;q=0, gzip"}) {
    const Response response = Answered(body, accepted);
    EXPECT_EQ(Header(response, "Content-Encoding"), "gzip") << accepted;
    EXPECT_EQ(Gunzip(*response.body), body);
    EXPECT_EQ(Header(response, "ETag"), "\"a:1-gzip\"");
  }
}

TEST(Encode, LeavesWhatItShouldNotCompress) {
  const std::string body(5000, 'a');
  for (const char* accepted : {"", "identity", "br", "gzip;q=0", "zstd;q=0.0"}) {
    const Response response = Answered(body, accepted);
    EXPECT_EQ(*response.body, body) << accepted;
    EXPECT_EQ(Header(response, "Vary"), "Accept-Encoding");
    EXPECT_EQ(Header(response, "Content-Encoding"), "");
  }
  EXPECT_EQ(*Answered("small", "gzip").body, "small");
}

TEST(TagMatches, ComparesWeaklyAndInEveryCoding) {
  const std::string tag = "\"a:1\"";
  for (const char* condition :
       {"\"a:1\"", "W/\"a:1\"", "\"a:1-gzip\"", "W/\"a:1-zstd\"", "\"b\" , \"a:1\"", "*"})
    EXPECT_TRUE(TagMatches(condition, tag)) << condition;
  for (const char* condition : {"", "\"a:2\"", "a:1", "\"a:1-br\"", "\"\""})
    EXPECT_FALSE(TagMatches(condition, tag)) << condition;
}

}  // namespace
}  // namespace etl::serve
