#include "etlctl/forward.h"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "config/settings.h"
#include "daemon/control_client.h"
#include "store/store.h"

namespace etl::ctl {

std::string DaemonOf(const std::string& store_dir) {
  constexpr std::string_view kNamed = "etld (control ";
  const std::string writer = Store::WriterOf(store_dir);
  if (writer.starts_with(kNamed)) return writer.substr(kNamed.size(), writer.find("), ") - kNamed.size());
  const std::string lock = store_dir + "/LOCK", usual = ControlSettings().socket;
  const bool hidden = ::access(lock.c_str(), R_OK) != 0 && errno == EACCES;
  return hidden && ::access(usual.c_str(), F_OK) == 0 ? usual : std::string();
}

Result<Exit> Forward(const std::string& socket, const std::string& store_dir,
                     const std::vector<std::string>& arguments, Output& out) {
  ControlCall call;
  call.arguments = arguments;
  std::error_code ignored;
  call.store_dir = std::filesystem::weakly_canonical(store_dir, ignored).string();
  call.directory = std::filesystem::current_path(ignored).string();
  const Terminal terminal = out.terminal();
  call.data_is_terminal = terminal.data;
  call.talk_is_terminal = terminal.talk;
  call.color = terminal.color;
  call.columns = static_cast<std::int64_t>(out.talk_columns());
  ETL_TRY(const int exit, CallDaemon(socket, call, [&](ControlFrame::Kind kind, std::string_view bytes) {
            if (kind == ControlFrame::Kind::kTalk) {
              out.Talk(bytes);
            } else {
              out.Data(bytes);
              if (terminal.data) out.FlushData();
            }
          }));
  return static_cast<Exit>(exit);
}

}  // namespace etl::ctl
