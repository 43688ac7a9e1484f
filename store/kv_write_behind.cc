#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "store/kv.h"

namespace etl {
namespace {

class WriteBehindKv final : public Kv {
 public:
  explicit WriteBehindKv(std::unique_ptr<Kv> kv) : kv_(std::move(kv)), thread_([this] { Loop(); }) {}
  ~WriteBehindKv() override {
    (void)Wait();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::unique_ptr<Batch> NewBatch() const override { return kv_->NewBatch(); }

  Status Write(std::shared_ptr<Batch> batch, bool sync) override {
    if (sync) {
      ETL_CHECK_OK(Wait());
      return kv_->Write(std::move(batch), true);
    }
    (void)batch->Find("");  // makes the index here, before other threads look
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pending_ == nullptr; });
    if (!failure_) return failure_;
    pending_ = std::move(batch);
    changed_.notify_all();
    return {};
  }
  Status SyncLog() override {
    ETL_CHECK_OK(Wait());
    return kv_->SyncLog();
  }
  Status Resume() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pending_ == nullptr; });
    ETL_CHECK_OK(kv_->Resume());
    failure_ = {};
    return {};
  }
  Status Flush() override {
    ETL_CHECK_OK(Wait());
    return kv_->Flush();
  }
  Status Compact() override {
    ETL_CHECK_OK(Wait());
    return kv_->Compact();
  }

  Result<std::optional<std::string>> Get(std::string_view key) const override {
    std::shared_ptr<Batch> pending;
    {
      const std::lock_guard lock(mutex_);
      pending = pending_;
    }
    if (pending != nullptr)
      if (auto found = pending->Find(key)) return *std::move(found);
    return kv_->Get(key);
  }
  std::unique_ptr<Iterator> Scan(std::string_view lower, std::string_view upper) const override {
    (void)Wait();  // a failed write is told by the next write; a scan shows what is there
    return kv_->Scan(lower, upper);
  }
  Result<std::unique_ptr<Kv>> View() const override {
    (void)Wait();  // as for a scan
    return kv_->View();
  }
  Status VerifyFiles() const override {
    ETL_CHECK_OK(Wait());
    return kv_->VerifyFiles();
  }
  Status Checkpoint(const std::string& dir) const override {
    ETL_CHECK_OK(Wait());
    return kv_->Checkpoint(dir);
  }
  Result<Backup> CreateBackup(const std::string& backup_dir, const std::string& note) override {
    ETL_CHECK_OK(Wait());
    return kv_->CreateBackup(backup_dir, note);
  }
  Usage DiskUsage() const override { return kv_->DiskUsage(); }
  StoreHealth Health() const override { return kv_->Health(); }

 private:
  Status Wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pending_ == nullptr; });
    return failure_;
  }

  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || pending_ != nullptr; });
      if (pending_ == nullptr) return;
      const auto batch = pending_;  // stays visible to readers until the database has it
      lock.unlock();
      auto status = kv_->Write(batch, false);
      lock.lock();
      pending_.reset();
      if (!status) failure_ = std::move(status);
      changed_.notify_all();
    }
  }

  std::unique_ptr<Kv> kv_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<Batch> pending_;  // being written
  Status failure_;
  bool stopping_ = false;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace

std::unique_ptr<Kv> MakeWriteBehind(std::unique_ptr<Kv> kv) {
  return std::make_unique<WriteBehindKv>(std::move(kv));
}

}  // namespace etl
