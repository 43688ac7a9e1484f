#include "fetch/url.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include <curl/curl.h>

namespace etl {
namespace {

constexpr std::size_t kUrlBytesMax = 8192;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Handle = std::unique_ptr<CURLU, FreeUrl>;

std::optional<std::string> Part(const Handle& handle, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(handle.get(), part, &text, flags) != CURLUE_OK) return std::nullopt;
  std::string out = text;
  curl_free(text);
  return out;
}

std::optional<Url> Read(const Handle& handle) {
  const auto scheme = Part(handle, CURLUPART_SCHEME);
  auto host = Part(handle, CURLUPART_HOST);
  const auto port = Part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  const auto path = Part(handle, CURLUPART_PATH);
  if (!scheme || !host || host->empty() || !port || !path) return std::nullopt;
  if (Part(handle, CURLUPART_USER) || Part(handle, CURLUPART_PASSWORD) || Part(handle, CURLUPART_ZONEID))
    return std::nullopt;
  Url url;
  url.scheme = *scheme;
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  if (host->front() == '[' && host->back() == ']') host = host->substr(1, host->size() - 2);
  url.host = *std::move(host);
  std::transform(url.host.begin(), url.host.end(), url.host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  // A name is ASCII here: what another alphabet looks like must be written in Punycode.
  if (std::any_of(url.host.begin(), url.host.end(), [](char c) { return c <= 0x20 || c >= 0x7F; }))
    return std::nullopt;
  const auto [end, error] = std::from_chars(port->data(), port->data() + port->size(), url.port);
  if (error != std::errc() || end != port->data() + port->size() || url.port < 1 || url.port > 65535)
    return std::nullopt;
  url.target = *path;
  if (const auto query = Part(handle, CURLUPART_QUERY)) url.target += "?" + *query;
  return url;
}

std::optional<Url> SetAndRead(const Handle& handle, std::string_view text, unsigned flags) {
  if (text.size() > kUrlBytesMax || text.find('\0') != std::string_view::npos) return std::nullopt;
  if (curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(), flags) != CURLUE_OK)
    return std::nullopt;
  return Read(handle);
}

}  // namespace

std::string Url::Authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Url::Origin() const {
  std::string authority = Authority();
  if (port == (scheme == "https" ? 443 : 80)) authority.erase(authority.rfind(':'));
  return scheme + "://" + authority;
}

std::optional<Url> ParseUrl(std::string_view text) {
  const Handle handle(curl_url());
  if (!handle) return std::nullopt;
  return SetAndRead(handle, text, 0);
}

std::optional<Url> ResolveLocation(const Url& base, std::string_view location) {
  const Handle handle(curl_url());
  if (!handle || location.empty() || !SetAndRead(handle, base.Text(), 0)) return std::nullopt;
  return SetAndRead(handle, location, CURLU_URLENCODE);
}

std::string ShownUrl(std::string_view text) {
  text = text.substr(0, text.find_first_of("?#"));
  const auto scheme = text.find("//");
  if (scheme == std::string_view::npos) return std::string(text);
  const std::string_view rest = text.substr(scheme + 2);
  const auto user = rest.substr(0, rest.find('/')).rfind('@');
  std::string shown(text.substr(0, scheme + 2));
  return shown.append(user == std::string_view::npos ? rest : rest.substr(user + 1));
}

}  // namespace etl
