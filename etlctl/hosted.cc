#include "etlctl/hosted.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "etlctl/exit_code.h"
#include "etlctl/invocation.h"
#include "etlctl/output.h"

namespace etl::ctl {
namespace {

// A stream whose bytes go to the caller of a control session.
class ControlStream {
 public:
  ControlStream(ControlSession& session, ControlFrame::Kind kind) : session_(session), kind_(kind) {
    cookie_io_functions_t calls{};
    calls.write = [](void* cookie, const char* bytes, std::size_t size) -> ssize_t {
      auto& self = *static_cast<ControlStream*>(cookie);
      return self.session_.Write(self.kind_, {bytes, size}) ? static_cast<ssize_t>(size) : 0;  // 0: an error
    };
    file_ = ::fopencookie(this, "w", calls);
    if (file_ != nullptr) (void)std::setvbuf(file_, nullptr, _IONBF, 0);  // Output buffers already
  }
  ~ControlStream() {
    if (file_ != nullptr) (void)std::fclose(file_);
  }
  ControlStream(const ControlStream&) = delete;
  ControlStream& operator=(const ControlStream&) = delete;
  std::FILE* file() const { return file_; }

 private:
  ControlSession& session_;
  ControlFrame::Kind kind_;
  std::FILE* file_ = nullptr;
};

}  // namespace

int RunHosted(CommandHost& host, ControlSession& session) {
  const ControlCall& call = session.call();
  const ControlStream data(session, ControlFrame::Kind::kData), talk(session, ControlFrame::Kind::kTalk);
  if (data.file() == nullptr || talk.file() == nullptr) return static_cast<int>(Exit::kFailed);
  const Terminal terminal{call.data_is_terminal, call.talk_is_terminal, call.color,
                          static_cast<std::size_t>(call.columns)};
  Output out(data.file(), talk.file(), Format::kTable, terminal);
  std::error_code ignored;
  if (!call.store_dir.empty() && !std::filesystem::equivalent(call.store_dir, host.store().dir(), ignored)) {
    Report(out, {Errc::kConflict, "STORE_OTHER", call.store_dir,
                 "the daemon that answers holds another store: " + host.store().dir(),
                 "name its store with --store, or ask as a user who may read this one"});
    return static_cast<int>(Exit::kFailed);
  }
  return RunInvocation({call.arguments, &host, call.directory}, out);
}

}  // namespace etl::ctl
