#include "model/digest.h"

#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace etl {
namespace {

// FIPS 180-4's examples.
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Digest, IsTheSha256OfFips180) {
  EXPECT_EQ(Sha256("").Hex(), kEmpty);
  EXPECT_EQ(Sha256("abc").Hex(), kAbc);
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").Hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1'000'000, 'a')).Hex(), kMillionA);
}

TEST(Digest, IsWrittenAndReadWithItsPrefix) {
  const Digest digest = Sha256("abc");
  EXPECT_EQ(digest.Text(), std::string("sha256:") + kAbc);
  const auto read = ParseDigest(digest.Text());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, digest);
  EXPECT_EQ(Digest::FromBytes(digest.View()), digest);
  EXPECT_EQ(digest.View().size(), 32u);
}

TEST(Digest, RefusesEveryOtherForm) {
  const std::string hex = kAbc;
  std::string upper = "sha256:" + hex;
  upper[8] = 'A';
  for (const auto& [text, where] : std::vector<std::pair<std::string, std::string>>{
           {"", "character 0"},
           {hex, "character 0"},
           {"SHA256:" + hex, "character 0"},
           {"sha512:" + hex, "character 0"},
           {" sha256:" + hex, "character 0"},
           {"sha256:", "character 7"},
           {"sha256:" + hex.substr(1), "character 70"},
           {"sha256:" + hex + "0", "character 71"},
           {"sha256:" + hex + "\n", "character 71"},
           {upper, "character 8"},
           {"sha256:" + hex.substr(1) + "g", "character 70"},
           {"sha256:" + hex.substr(1) + std::string(1, '\0'), "character 70"}}) {
    const auto read = ParseDigest(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().errc, Errc::kInvalid);
    EXPECT_EQ(read.error().code, "DIGEST_PATTERN");
    EXPECT_EQ(read.error().where, where) << text;
    EXPECT_FALSE(read.error().fix.empty());
  }
}

TEST(Digest, IsOrderedByItsBytesAsItsHexIs) {
  std::vector<Digest> digests;
  for (int i = 0; i < 100; ++i) digests.push_back(Sha256(std::to_string(i)));
  for (const Digest& a : digests)
    for (const Digest& b : digests) EXPECT_EQ(a < b, a.Hex() < b.Hex());
  EXPECT_EQ((std::unordered_set<Digest>(digests.begin(), digests.end()).size()), 100u);
}

TEST(Sha256Hasher, GivesTheSameWhateverThePieces) {
  const std::string data(1000, 'x');
  for (const std::size_t piece : {1u, 63u, 64u, 65u, 999u, 1000u}) {
    Sha256Hasher hasher;
    for (std::size_t i = 0; i < data.size(); i += piece)
      hasher.Update(std::string_view(data).substr(i, piece));
    EXPECT_EQ(hasher.Finish(), Sha256(data)) << piece;
  }
}

TEST(Sha256Hasher, StartsAnewAfterFinish) {
  Sha256Hasher hasher;
  hasher.Update("abc");
  EXPECT_EQ(hasher.Finish().Hex(), kAbc);
  EXPECT_EQ(hasher.Finish().Hex(), kEmpty);
  hasher.Update("ab");
  Sha256Hasher moved = std::move(hasher);
  moved.Update("c");
  EXPECT_EQ(moved.Finish().Hex(), kAbc);
}

TEST(Sha256Hasher, IsNotDisturbedByOneShotDigests) {
  Sha256Hasher hasher;
  hasher.Update("a");
  EXPECT_EQ(Sha256("other").Hex(), Sha256("other").Hex());
  hasher.Update("bc");
  EXPECT_EQ(hasher.Finish().Hex(), kAbc);
}

TEST(Digest, CanBeTakenInManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 2000; ++i) wrong[t] += Sha256("abc").Hex() == kAbc ? 0 : 1;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace etl
