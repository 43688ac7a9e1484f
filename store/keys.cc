#include "store/keys.h"

#include <array>

#include "store/printable.h"

namespace etl {

std::string PrintableKey(std::string_view key) {
  constexpr std::size_t kMax = 200;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : key) {
    if (out.size() > kMax) return out + "...";
    const auto u = static_cast<unsigned char>(c);
    if (u > 0x20 && u < 0x7f && c != '\\') {
      out += c;
    } else {
      out += '\\';
      out += kHex[u >> 4];
      out += kHex[u & 15];
    }
  }
  return out;
}

std::string EntryName::Text() const {
  std::string out = source + ":" + external_id;
  if (!scope.empty()) out += " in " + scope;
  return out;
}

namespace keys {
namespace {

template <std::size_t N, class T>
std::string Big(T n) {
  std::array<char, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = static_cast<char>((n >> (8 * (N - 1 - i))) & 0xff);
  return {out.data(), N};
}

std::uint64_t ReadBig(std::string_view bytes) {
  std::uint64_t n = 0;
  for (const char c : bytes) n = (n << 8) | static_cast<unsigned char>(c);
  return n;
}

void AppendName(std::string& out, const EntryName& name) {
  out.append(name.source).push_back('\0');
  out.append(name.external_id).push_back('\0');
  out.append(name.scope).push_back('\0');
}

}  // namespace

std::string Big32(std::uint32_t n) {
  return Big<4>(n);
}
std::string Big64(std::uint64_t n) {
  return Big<8>(n);
}
std::uint32_t ReadBig32(std::string_view four) {
  return static_cast<std::uint32_t>(ReadBig(four.substr(0, 4)));
}
std::uint64_t ReadBig64(std::string_view eight) {
  return ReadBig(eight.substr(0, 8));
}

std::string Entry(const EntryName& name) {
  std::string out(1, kEntry);
  AppendName(out, name);
  return out;
}

std::optional<EntryName> ReadEntry(std::string_view key) {
  if (key.empty()) return std::nullopt;
  key.remove_prefix(1);
  std::array<std::string, 3> parts;
  for (auto& part : parts) {
    const auto end = key.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    part = key.substr(0, end);
    key.remove_prefix(end + 1);
  }
  if (!key.empty()) return std::nullopt;
  return EntryName{parts[0], parts[1], parts[2]};
}

std::string VersionPrefix(const EntryName& name, Kind kind) {
  std::string out(1, kVersion);
  AppendName(out, name);
  out.push_back(static_cast<char>(kind));
  return out;
}

std::string VersionKey(const EntryName& name, Kind kind, std::uint32_t version) {
  return VersionPrefix(name, kind) + Big32(version);
}

std::string ByDigest(Prefix prefix, const Digest& digest) {
  std::string out(1, prefix);
  out.append(digest.View());
  return out;
}

std::string ObjectEntry(const Digest& digest, const EntryName& name) {
  std::string out = ByDigest(kObjectEntry, digest);
  AppendName(out, name);
  return out;
}

std::string ByText(Prefix prefix, std::string_view source, std::string_view rest) {
  std::string out(1, prefix);
  out.append(source).push_back('\0');
  out.append(rest);
  return out;
}

std::string Response(Prefix prefix, std::string_view source, std::string_view request, const Digest& digest) {
  std::string out = ByText(prefix, source, request);
  out.push_back('\0');
  out.append(digest.View());
  return out;
}

std::string Group(Prefix prefix, std::uint32_t group) {
  return std::string(1, prefix) + Big32(group);
}

std::string Node(std::uint32_t group, std::uint64_t node) {
  return Group(kStandingNode, group) + Big64(node);
}

std::string Step(std::uint32_t group, Instant at, const Digest& digest) {
  // The sign bit is turned over, so that moments before 1970 sort first.
  const auto biased = static_cast<std::uint64_t>(at.ms) ^ (std::uint64_t{1} << 63);
  std::string out = Group(kRecordStep, group) + Big64(biased);
  out.append(digest.View());
  return out;
}

std::string Former(std::uint32_t group, std::uint64_t left, const Digest& digest) {
  std::string out = Group(kFormerMember, group) + Big64(left);
  out.append(digest.View());
  return out;
}

std::string Commit(std::uint64_t sequence) {
  return std::string(1, kCommit) + Big64(sequence);
}
std::string Meta(std::string_view name) {
  return std::string(1, kMeta) + std::string(name);
}

}  // namespace keys
}  // namespace etl
