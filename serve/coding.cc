#include "serve/coding.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <zlib.h>
#include <zstd.h>

#include "model/text.h"

namespace etl::serve {
namespace {

constexpr int kGzipLevel = 5, kGzipWindow = 15 + 16;  // 16: with a gzip header
constexpr int kZstdLevel = 3;

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Calls `visit` with each element of a list between commas, trimmed.
template <class Visit>
void ForEachElement(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    visit(Trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// Whether a coding is named with a weight above 0.
bool Takes(std::string_view accept_encoding, std::string_view coding) {
  bool takes = false;
  ForEachElement(accept_encoding, [&](std::string_view element) {
    const std::size_t semicolon = std::min(element.find(';'), element.size());
    if (Lower(Trimmed(element.substr(0, semicolon))) != coding) return;
    const std::string weight = Lower(element.substr(semicolon));
    const std::size_t q = weight.find("q=");
    takes = q == std::string::npos || std::strtod(weight.c_str() + q + 2, nullptr) > 0;
  });
  return takes;
}

std::optional<std::string> Gzip(const std::string& body) {
  z_stream stream{};
  if (deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::string out(deflateBound(&stream, static_cast<uLong>(body.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (!done) return std::nullopt;
  return out;
}

std::optional<std::string> Zstd(const std::string& body) {
  std::string out(ZSTD_compressBound(body.size()), '\0');
  const std::size_t bytes = ZSTD_compress(out.data(), out.size(), body.data(), body.size(), kZstdLevel);
  if (ZSTD_isError(bytes) != 0) return std::nullopt;
  out.resize(bytes);
  return out;
}

}  // namespace

std::string_view CodingFor(std::string_view accept_encoding) {
  if (accept_encoding.empty()) return "";
  return Takes(accept_encoding, "zstd") ? "zstd" : Takes(accept_encoding, "gzip") ? "gzip" : "";
}

void Encode(Response& response, std::string_view accept_encoding) {
  if (response.status != 200 || !response.body || response.wait_ms) return;
  response.Header("Vary", "Accept-Encoding");
  if (response.body->size() < kCodedBytesMin || response.body->size() > UINT32_MAX) return;
  const std::string name(CodingFor(accept_encoding));
  if (name.empty()) return;
  auto coded = name == "zstd" ? Zstd(*response.body) : Gzip(*response.body);
  if (!coded || coded->size() >= response.body->size()) return;
  response.body = std::make_shared<const std::string>(*std::move(coded));
  for (auto& [field, value] : response.headers)
    if (field == "ETag" && value.ends_with('"')) value.insert(value.size() - 1, "-" + name);
  response.Header("Content-Encoding", name);
}

bool TagMatches(std::string_view if_none_match, std::string_view tag) {
  bool matches = false;
  ForEachElement(if_none_match, [&](std::string_view one) {
    if (one.starts_with("W/")) one.remove_prefix(2);
    std::string plain(one);
    for (const std::string_view coding : {"-zstd\"", "-gzip\""}) {
      if (!plain.ends_with(coding)) continue;
      plain.resize(plain.size() - coding.size());
      plain += '"';
    }
    matches = matches || plain == tag || one == "*";
  });
  return matches;
}

}  // namespace etl::serve
