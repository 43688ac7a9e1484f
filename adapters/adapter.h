#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/board_row.h"
#include "model/draft.h"
#include "model/error.h"

namespace etl {

// A source adapter, sans I/O: no socket, no clock, no store. It says what to ask for, and turns one response
// into a draft. The same code runs against the network, a folder of saved responses, the snapshots already
// stored, a fuzzer and a simulator.

// Knowledge that an adapter carries from one response of a walk to the next request of it. Opaque to everyone
// else, never stored: an interrupted walk starts again.
class WalkState {
 public:
  virtual ~WalkState() = default;
};

struct Request {
  std::string
      key;  // what is asked, relative to the source's base: "submissions?kernel_id=5&limit=50&offset=0"
  std::string context;  // key of the context its response is read with ("kernel/5"); empty: none
  std::string scope;    // what the request belongs to, for progress and for "done" marks ("kernel/5"); empty:
                        // the source
  bool optional = false;  // a 404 is an ordinary answer
  std::unique_ptr<WalkState> walk;
};

// What an adapter left behind at earlier visits (CursorDraft), and what people decided on rows under review
// (model/decision.h). A row that such a decision applies to says so in its metadata, as "review".
class Cursors {
 public:
  virtual ~Cursors() = default;
  virtual std::optional<std::string> Find(std::string_view key) const = 0;
  // Those whose keys start with this, by key.
  virtual std::vector<CursorDraft> FindAll(std::string_view key_prefix) const = 0;
};

// How a source is followed.
struct FollowRules {
  std::int64_t reread_s = 6 * 3600;        // every row of a window is compared again at least this often
  std::int64_t reread_min_s = 60;          // and no more often than this because of its rate alone
  std::int64_t give_up_s = 7 * 24 * 3600;  // an unfinished row is waited for this long
  int shrink_max_percent = 20;             // of a list of rows that may vanish from one answer to the next
  int withdraw_max_percent = 10;           // of a source's kernels
  bool accept_shrunken = false;            // an operator has looked: the two limits above do not hold
};

// What a visit is to bring.
struct Goal {
  std::vector<std::string> kernels;       // names; empty: everything the source has
  bool leaderboards = true;               // also read upstream's own ranks where the transport has them
  std::optional<std::uint64_t> rows_max;  // stop asking for more after about this many rows
  bool local = false;   // read a folder of definition files instead of the service (Transport::local)
  bool poll = false;    // only what may have changed since the last poll; its cursors move
  bool window = false;  // the source serves the newest rows of a list only, and filters it (a live service)
  FollowRules follow;
  const Cursors* cursors = nullptr;  // what earlier visits left; null: nothing
};

// A position on upstream's own leaderboard, to be held against ours.
struct UpstreamRank {
  std::string kernel, gpu, stack_version;
  std::string username;
  std::int64_t rank = 0;
  double latency_ms = 0;
  std::string submitted_at;  // as upstream writes it
};

// Why a walk cannot be called complete. One is enough to make the visit partial.
struct Shortfall {
  std::string scope;
  std::string code;  // PAGING_UNSTABLE, TOTAL_NOT_REACHED, WINDOW_OUTRUN, RESPONSE_REFUSED, NOT_THERE,
                     // ROW_LIMIT
  std::string what;
};

struct Outcome {
  Draft draft;
  std::vector<Request> next;
  std::vector<UpstreamRank> upstream_ranks;
  std::vector<BoardRow> board_rows;  // of a leaderboard: what is to be kept of it where no list showed a row
  std::vector<Shortfall> shortfalls;
  std::uint64_t rows = 0;    // new rows this response brought to its walk
  std::uint64_t scopes = 0;  // scopes that this response announced (kernels in the list)
  bool scope_done = false;   // the request's scope needs nothing more
};

// How a response is to be read.
enum class Reading : std::uint8_t {
  kFull,      // make the draft
  kWalkOnly,  // these bytes were drafted before with the same context: only say what to ask next
};

// What a person needs to judge a row under review.
struct ReviewFacts {
  std::optional<double> latency_ms, bound_ms;
};

class Adapter {
 public:
  virtual ~Adapter() = default;

  virtual std::string_view slug() const = 0;
  // Where the service is: what request keys are relative to. No slash at its end.
  virtual std::string_view base_url() const = 0;
  // Names the mapping, "sol-execbench/1". Changes whenever the same bytes would give another draft.
  virtual std::string_view version() const = 0;

  // The first requests of a visit.
  virtual std::vector<Request> Plan(const Goal& goal) const = 0;

  // Turns one response into a draft and further requests. `context` is the value of request.context, empty
  // when unknown. A response that is wrong as a whole is an Error (kInvalid): nothing of it enters, its bytes
  // go to quarantine, and the scope falls short. One bad item inside a good response is a QuarantineDraft and
  // the rest goes on. Consumes request.walk. At most one call at a time per adapter object.
  //
  // Entries, contexts and refusals depend on the arguments alone, and on the newest list of the source's
  // parts that this object has read (a visit reads it first, a replay has it from the snapshots before): so
  // that the same snapshots in the same order always give the same entries. What is only told does depend on
  // the object's past: drift is told once in its life, and rows are counted against Goal::rows_max from the
  // list on.
  virtual Result<Outcome> Accept(Request& request, const Snapshot& snapshot, std::string_view context,
                                 Reading reading, const Goal& goal) = 0;

  // The context key that the response of a stored request is read with (replay, rebuild); empty: none.
  virtual std::string ContextFor(std::string_view request_key) const = 0;

  // Of a row's bytes, and the context that it is read with.
  virtual ReviewFacts FactsOf(std::string_view row, std::string_view context) const = 0;
  // What a row of a list is told by on a leaderboard.
  virtual RowTraits TraitsOf(std::string_view row) const = 0;

  // When something of the source has to be read again, as the polls so far say: the earliest moment, which
  // may have passed. Nothing: it was never polled, or has nothing that is followed. What cannot be read stays
  // due, and rows that are not final are read at every poll whenever that is: who plans polls has a shortest
  // and a longest interval of its own.
  virtual std::optional<Instant> NextDue(const Cursors& cursors) const = 0;
};

// The adapter for a source slug, or null. `base_url` replaces the source's own (tests); empty keeps it.
std::unique_ptr<Adapter> MakeAdapter(std::string_view slug);
// Every slug there is, sorted.
std::vector<std::string> AdapterSlugs();

}  // namespace etl
