#include "model/digest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <openssl/evp.h>

namespace etl {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::size_t kHexDigits = 64;

// SHA-256 of bytes in memory fails for want of memory or of a provider only: nothing that a caller could
// answer.
[[noreturn]] void Die(const char* call) {
  std::fprintf(stderr, "OpenSSL: %s failed for SHA-256\n", call);
  std::abort();
}

// Fetched once and never freed: contexts of other threads may outlive any static.
const EVP_MD* Algorithm() {
  static const EVP_MD* const algorithm = [] {
    EVP_MD* fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    if (fetched == nullptr) Die("EVP_MD_fetch");
    return fetched;
  }();
  return algorithm;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context MakeContext() {
  Context context(EVP_MD_CTX_new());
  if (context == nullptr) Die("EVP_MD_CTX_new");
  return context;
}

void Start(EVP_MD_CTX* context) {
  if (EVP_DigestInit_ex2(context, Algorithm(), nullptr) != 1) Die("EVP_DigestInit_ex2");
}

void Add(EVP_MD_CTX* context, std::string_view data) {
  if (EVP_DigestUpdate(context, data.data(), data.size()) != 1) Die("EVP_DigestUpdate");
}

Digest End(EVP_MD_CTX* context) {
  Digest digest;
  if (EVP_DigestFinal_ex(context, digest.bytes.data(), nullptr) != 1) Die("EVP_DigestFinal_ex");
  return digest;
}

void AppendHex(std::string& out, const Digest& digest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const std::uint8_t byte : digest.bytes) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

// The value of a lower-case hex digit, -1 for anything else.
int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Digest::Hex() const {
  std::string out;
  out.reserve(kHexDigits);
  AppendHex(out, *this);
  return out;
}

std::string Digest::Text() const {
  std::string out;
  out.reserve(kPrefix.size() + kHexDigits);
  out = kPrefix;
  AppendHex(out, *this);
  return out;
}

std::string_view Digest::View() const noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Digest Digest::FromBytes(std::string_view bytes32) {
  Digest digest;
  if (bytes32.size() != digest.bytes.size()) {
    std::fprintf(stderr, "Digest::FromBytes was given %zu bytes\n", bytes32.size());
    std::abort();
  }
  std::memcpy(digest.bytes.data(), bytes32.data(), digest.bytes.size());
  return digest;
}

Result<Digest> ParseDigest(std::string_view text) {
  const auto refuse = [](std::size_t at) {
    return Fail(Errc::kInvalid, "DIGEST_PATTERN", "character " + std::to_string(at),
                "a digest is \"sha256:\" and 64 lower-case hex digits", "copy the whole digest");
  };
  if (!text.starts_with(kPrefix)) return refuse(0);
  if (text.size() != kPrefix.size() + kHexDigits)
    return refuse(std::min(text.size(), kPrefix.size() + kHexDigits));
  Digest digest;
  for (std::size_t i = 0; i < kHexDigits; ++i) {
    const int value = HexValue(text[kPrefix.size() + i]);
    if (value < 0) return refuse(kPrefix.size() + i);
    std::uint8_t& byte = digest.bytes[i / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  return digest;
}

Digest Sha256(std::string_view data) {
  thread_local const Context context = MakeContext();
  Start(context.get());
  Add(context.get(), data);
  return End(context.get());
}

struct Sha256Hasher::Impl {
  Context context = MakeContext();
};

Sha256Hasher::Sha256Hasher() : impl_(std::make_unique<Impl>()) {
  Start(impl_->context.get());
}
Sha256Hasher::~Sha256Hasher() = default;
Sha256Hasher::Sha256Hasher(Sha256Hasher&&) noexcept = default;
Sha256Hasher& Sha256Hasher::operator=(Sha256Hasher&&) noexcept = default;

void Sha256Hasher::Update(std::string_view data) {
  Add(impl_->context.get(), data);
}

Digest Sha256Hasher::Finish() {
  const Digest digest = End(impl_->context.get());
  Start(impl_->context.get());
  return digest;
}

}  // namespace etl
