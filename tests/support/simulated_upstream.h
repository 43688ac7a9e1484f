#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/transport.h"
#include "tests/support/manual_clock.h"

namespace etl::test {

// A leaderboard that changes between requests: rows arrive, finish, are edited, disqualified, hidden and
// shown again, and rows of one moment change places. Everything follows from the seed, so that a failure
// replays. No sockets, no waiting: the clock is moved by a second with each request.
class SimulatedUpstream : public Transport {
 public:
  struct Shape {
    std::uint32_t kernels = 2;
    std::uint32_t rows_at_start = 30;  // of each kernel
    std::int64_t window_rows = 0;      // rows of a list that are served, and that its total says; 0: all
    int unrest_percent = 50;           // chance that something changes before a request
    bool hides = true;                 // rows may vanish, and come back
  };
  SimulatedUpstream(std::uint64_t seed, const Shape& shape, ManualClock& clock);

  using Transport::Fetch;
  Result<Response> Fetch(std::string_view key, const Validators& held) override;
  std::string Describe() const override { return "simulated upstream"; }
  bool live() const override { return true; }

  // From now on nothing changes.
  void Rest() { resting_ = true; }
  // Between two visits: `times` changes at once.
  void Change(int times);
  // Lets the window go and shows what was hidden, so that a reader sees every row.
  void ShowAll();
  // Ids of rows that every request of a kernel's whole list since StartWatch could have shown.
  void StartWatch();
  std::map<std::int64_t, std::set<std::int64_t>> AlwaysVisible() const { return always_visible_; }
  // Lists that a reader began to walk.
  std::size_t walks() const { return walks_; }

 private:
  struct Row {
    std::int64_t id = 0, user = 0, latency_us = 0, moment = 0;  // moment: of submission
    std::string status = "QUEUED";
    bool correct = true, disqualified = false, hidden = false;
    std::uint32_t tie = 0;  // order among rows of one moment
  };
  struct Kernel {
    std::int64_t id = 0, listed = 0;
    std::uint32_t bound_ns = 1000;
    std::vector<Row> rows;
  };
  std::uint64_t Below(std::uint64_t n) { return random_() % n; }
  void ChangeOnce();
  void Insert(Kernel& kernel);
  void Touch(Kernel& kernel, Row& row);
  std::vector<const Row*> Visible(const Kernel& kernel, const std::function<bool(const Row&)>& filter) const;
  std::string List() const;
  std::string Detail(const Kernel& kernel) const;
  std::string Page(const Kernel& kernel, std::string_view query);
  std::string RowText(const Kernel& kernel, const Row& row) const;

  std::mt19937_64 random_;
  Shape shape_;
  ManualClock& clock_;
  std::vector<Kernel> kernels_;
  std::map<std::int64_t, std::uint32_t> renames_;  // of users
  std::int64_t next_id_ = 1000, moment_ = 0;
  bool resting_ = false;
  std::size_t walks_ = 0;
  std::map<std::int64_t, std::set<std::int64_t>> always_visible_;
};

}  // namespace etl::test
