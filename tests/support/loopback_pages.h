#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fetch/transport.h"

namespace etl::test {

// What LoopbackUpstream answers with: the pages of a folder of saved responses and the bodies put in by hand,
// filtered, windowed and cached as its header tells. Used by one thread at a time. OpenFolder's and Put's
// functions throw std::runtime_error where they cannot do what is asked.
class LoopbackPages {
 public:
  struct Page {
    int status = 200;
    std::shared_ptr<const std::string> body;
    std::shared_ptr<const std::string> gzip;  // the same, made when first asked for
    std::string tag;                          // changes when the body does: 16 hexadecimal digits
    std::time_t modified = 0;
  };
  struct Limits {
    std::int64_t window_rows = 0;
    std::int64_t limit_max = 0;
  };

  void OpenFolder(const std::string& folder);  // "" for none
  void SetLimits(Limits limits);
  void Put(std::string_view key, std::string body);
  void Remove(std::string_view key);

  // Valid until the next call of anything here.
  const Page& Find(const std::string& key);
  // The page's body compressed.
  std::shared_ptr<const std::string> Gzip(const std::string& key);

 private:
  struct Stamp {  // of the file a page came from
    std::int64_t time_ns = 0, bytes = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Cached {
    Page page;
    std::string file;
    Stamp stamp;
  };

  static Stamp StampOf(const std::string& file, std::time_t* modified);
  Page& Lookup(const std::string& key);
  Page Make(const std::string& key, std::string& file);
  Page MakeRows(std::string_view query, std::string& file);

  std::unique_ptr<Transport> folder_;
  Limits limits_;
  std::map<std::string, Page, std::less<>> put_;
  std::unordered_map<std::string, Cached> cached_;
  std::size_t cached_bytes_ = 0;
  Page refused_;  // the last answer that is not kept
};

}  // namespace etl::test
