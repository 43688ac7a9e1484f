#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/error.h"
#include "model/instant.h"

namespace etl {

// What a server gave to ask with again (RFC 9110, section 13): empty where it gave none.
struct Validators {
  std::string etag;           // as sent, with its quotes and "W/"
  std::string last_modified;  // as sent
  bool empty() const { return etag.empty() && last_modified.empty(); }
  friend bool operator==(const Validators&, const Validators&) = default;
};

// One answer. A 404 is an answer, not an error; so is a 304, to a request that was sent with validators.
struct Response {
  int status = 200;
  std::string bytes;   // decoded; empty for a 304
  std::string origin;  // URL or file it came from
  Validators validators;
  std::optional<Instant> at;  // when it arrived, by the transport's clock; nothing for saved responses
};

// Answers requests of one source. Blocking; used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  // `key` as in Request::key. `held`: the validators of the body that the caller has, empty to get a body in
  // any case; a transport without conditional requests ignores them. Errors: kUnavailable (cannot be read
  // now), kInvalid (a key this transport cannot answer), kStopped (asked to stop).
  virtual Result<Response> Fetch(std::string_view key, const Validators& held) = 0;
  Result<Response> Fetch(std::string_view key) { return Fetch(key, Validators()); }
  // A hint: this will be fetched soon, with these validators. A transport with a network behind it may start
  // now, as far as its limits allow; the answer is kept until Fetch asks for the same. Others do nothing.
  virtual void Expect(std::string_view key, const Validators& held);
  // Whether an answer belongs to the moment it is given at. False for saved responses, which all belong to
  // the moment they were saved.
  virtual bool live() const { return false; }
  // What stands for the whole place in messages ("folder /srv/saved").
  virtual std::string Describe() const = 0;
  // Whether it holds definition files rather than saved responses: what Goal::local is to be.
  virtual bool local() const { return false; }
};

// Answers from a folder of saved responses: "kernels" from kernels.json, "kernels/5" from kernels/5.json,
// "submissions?kernel_id=5&limit=50&offset=100" from submissions/5.json, "leaderboard/kernel/5/B200" from
// leaderboard/kernel/5/B200.json (a query is added to the name with "@":
// B200@evaluation_stack_version=v1.1.json, tried first). A file that is not there is a 404.
//
// submissions/5.json holds all rows of a kernel: the transport serves the page that the query asks for, cut
// out of the file without rewriting a byte: the same text with fewer rows, so its `total`, `offset` and
// `limit` are the file's own, and whatever is wrong around the rows stays to be seen. When the whole file is
// one page, its bytes are the answer. A file that is no such list is answered unchanged at offset 0, for the
// adapter to judge, and as an empty page after that.
//
// Local mode: a folder with no kernels.json but a definition.json, or sub-folders that have one, holds
// definition files. "local" then answers {"kernels":["."]}, or the sorted names of those sub-folders (at most
// 100,000), and "local/<name>/definition.json" and "local/<name>/workload.jsonl" the files themselves.
//
// Nothing outside the folder is read: a key with "..", an absolute part, a control character or a link that
// leads out is kInvalid FOLDER_KEY; so is a submissions query with anything but kernel_id, limit (default 20)
// and offset. Files are at most 256 MiB (kInvalid FOLDER_FILE_TOO_LARGE); one that cannot be read is
// kUnavailable FOLDER_READ. Keeps the last file in memory for its pages, for as long as it does not change.
// Errors at opening: kNotFound FOLDER_MISSING when there is no folder, or no kernels.json and no
// definition.json in it.
Result<std::unique_ptr<Transport>> OpenFolder(const std::string& dir);

}  // namespace etl
