#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etl {

// The rules of a robots.txt for one crawler (RFC 9309): those of every group that names it, else those of the
// groups for "*", else none. The longest matching rule decides, Allow on a tie; "*" stands for any characters
// and "$" at the end for the end. Names are compared without case, paths byte by byte after percent-encoding
// both the same way. /robots.txt itself is always allowed.
class RobotsRules {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{500} << 10;  // what is behind is not read

  // No rules: everything is allowed.
  RobotsRules() = default;
  // `product`: the crawler's name as in its user agent, up to "/". Never fails: what is no rule is skipped.
  static RobotsRules Parse(std::string_view text, std::string_view product);

  // `target`: path and query of a URL, beginning with "/".
  bool Allows(std::string_view target) const;

 private:
  struct Rule {
    std::string pattern;  // encoded
    bool allow = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace etl
