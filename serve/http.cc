#include "serve/http.h"

#include <algorithm>

#include "model/json_writer.h"

namespace etl::serve {
namespace {

tl::unexpected<Error> BadTarget(std::string what) {
  return Fail(Errc::kInvalid, "TARGET_PATTERN", "", std::move(what),
              "send a path with its parameters, as RFC 3986 writes them");
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Whether the bytes are UTF-8 by RFC 3629 (shortest forms, no surrogates) without control characters.
bool IsText(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
    const unsigned lead = byte(i);
    if (lead < 0x20 || lead == 0x7f) return false;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || i + more >= s.size()) return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    const unsigned second = byte(i + 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
      return false;
    i += more + 1;
  }
  return true;
}

std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (!IsText(out)) return std::nullopt;
  return out;
}

Status ReadPath(Request& request, std::string_view path) {
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    auto segment = Decode(path.substr(0, end), false);
    if (!segment) return BadTarget("a %-escape of the path is broken, or does not decode to text");
    if (segment->empty() || *segment == "." || *segment == "..")
      return BadTarget("the path has an empty segment, \".\" or \"..\"");
    if (request.path.size() == kSegmentsMax)
      return Fail(Errc::kInvalid, "TARGET_TOO_LONG", "", "the path has too many segments", "");
    request.path.push_back(*std::move(segment));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

Status ReadQuery(Request& request, std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = Decode(pair.substr(0, equals), true);
    auto value = Decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return BadTarget("a %-escape of the query is broken, or does not decode to text");
    if (request.query.size() == kQueryPairsMax)
      return Fail(Errc::kInvalid, "TARGET_TOO_LONG", "", "the query has too many parameters", "");
    request.query.emplace_back(*std::move(name), *std::move(value));
  }
  return {};
}

}  // namespace

std::optional<std::string_view> Request::Param(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return std::nullopt;
}

Status SetTarget(Request& request, std::string_view target) {
  request.path.clear();
  request.query.clear();
  if (target.size() > kTargetBytesMax) {
    request.target.clear();
    return Fail(Errc::kInvalid, "TARGET_TOO_LONG", "", "the URL is over 8 KiB", "ask for less at once");
  }
  request.target = target;
  const bool clean =
      std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  if (!target.starts_with('/') || !clean) return BadTarget("the request target is no path");
  const std::size_t mark = std::min(target.find('?'), target.size());
  Status read = ReadPath(request, target.substr(0, mark));
  if (read && mark < target.size()) read = ReadQuery(request, target.substr(mark + 1));
  if (!read) {
    request.path.clear();
    request.query.clear();
  }
  return read;
}

Response Answer(int status, std::string_view content_type, std::string body) {
  Response response;
  response.status = status;
  response.content_type = content_type;
  response.body = std::make_shared<const std::string>(std::move(body));
  return response;
}

Response JsonAnswer(std::string json) {
  return Answer(200, "application/json", std::move(json));
}

Response Problem(int status, const Error& error) {
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.problem = error;
  response.Header("Cache-Control", "no-store");
  return response;
}

void Finish(Response& response, std::string_view request_id) {
  if (!response.problem) return;
  const Error& error = *response.problem;
  std::string body;
  json::ObjectWriter object(body);
  object.Text("type", "urn:etld:problem:" + error.code).Text("title", Reason(response.status));
  object.Integer("status", response.status).Text("code", error.code).Text("detail", error.what);
  object.Text("requestId", request_id);
  if (!error.where.empty()) object.Text("where", error.where);
  if (!error.fix.empty()) object.Text("fix", error.fix);
  object.End();
  body += '\n';
  response.body = std::make_shared<const std::string>(std::move(body));
}

Response Problem(int status, std::string code, std::string what, std::string fix) {
  return Problem(status, Error{Errc::kInvalid, std::move(code), "", std::move(what), std::move(fix)});
}

Response Problem(const Error& error) {
  switch (error.errc) {
    case Errc::kInvalid:
      return Problem(400, error);
    case Errc::kNotFound:
      return Problem(404, error);
    case Errc::kConflict:
      return Problem(409, error);
    case Errc::kUnavailable:
    case Errc::kStopped:
      return Problem(503, error.code, "the mirror cannot answer this now", "try again later");
    case Errc::kCorrupt:
      break;
  }
  return Problem(500, error.code, "stored bytes are damaged", "tell who runs this mirror");
}

std::string_view Reason(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

}  // namespace etl::serve
