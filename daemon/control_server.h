#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/control_message.h"
#include "daemon/peer.h"
#include "model/error.h"

namespace etl {

// A command that came over the control socket, while it runs.
class ControlSession {
 public:
  virtual ~ControlSession() = default;
  virtual const ControlCall& call() const = 0;
  virtual const Peer& peer() const = 0;
  virtual Access access() const = 0;
  // Sends what the command wrote; waits while the caller does not read. False once the caller is gone.
  virtual bool Write(ControlFrame::Kind kind, std::string_view bytes) = 0;
  // Set when the caller is gone or the daemon stops: the command is to end soon.
  virtual const std::atomic<bool>& stop() const = 0;
};

// Runs a command and returns its exit status. Called on a thread of the session's own.
using ControlHandler = std::function<int(ControlSession&)>;

struct ControlOptions {
  std::string path;  // of the socket
  AccessRules access;
  std::size_t sessions_max = 16;              // more are told that it is busy
  std::int64_t request_deadline_ms = 10'000;  // for the request to arrive
};

// Answers on the control socket. Everybody may connect (the socket's mode is 0666, its folder's says who gets
// there); what they may do depends on who they are (daemon/peer.h): those who may not even read get 403.
// Other answers: 400 for a request that cannot be understood, 404, 405, 413, 503 when too many are served.
class ControlServer {
 public:
  // Listens. A socket that a dead daemon left is replaced. Errors: kConflict CONTROL_IN_USE (somebody answers
  // there), kUnavailable CONTROL_SOCKET (the path cannot be used).
  static Result<std::unique_ptr<ControlServer>> Listen(const ControlOptions& options, ControlHandler handler);
  virtual ~ControlServer() = default;
  // Takes no more commands, tells those that run to stop, and waits for them at most this long. Removes the
  // socket. Returns whether all have ended: when not, the process must end without touching what they use.
  virtual bool Stop(std::int64_t wait_ms) = 0;
  virtual std::size_t sessions() const = 0;
};

}  // namespace etl
