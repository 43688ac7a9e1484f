#include "daemon/peer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

namespace etl {
namespace {

constexpr std::size_t kRecordBytes = std::size_t{64} << 10;  // a group with thousands of members
constexpr std::size_t kGroupsMax = 65'536;                   // NGROUPS_MAX of Linux

std::optional<gid_t> GroupId(const std::string& name) {
  std::vector<char> buffer(kRecordBytes);
  struct group record {};
  struct group* found = nullptr;
  if (getgrnam_r(name.c_str(), &record, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return record.gr_gid;
}

bool IsIn(const Peer& peer, const std::string& group) {
  const auto id = GroupId(group);
  return id && std::find(peer.groups.begin(), peer.groups.end(), *id) != peer.groups.end();
}

tl::unexpected<Error> Unknown() {
  return Fail(Errc::kUnavailable, "CONTROL_PEER", "control socket",
              "the kernel does not say who is asking: " + std::generic_category().message(errno),
              "ask over the control socket from the same machine");
}

}  // namespace

Result<Peer> PeerOf(int socket) {
  struct ucred credentials {};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return Unknown();
  Peer peer{credentials.uid, credentials.pid, std::vector<gid_t>(64)};
  for (;;) {
    size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size) == 0) break;
    if (errno != ERANGE || size / sizeof(gid_t) > kGroupsMax) return Unknown();
    peer.groups.resize(size / sizeof(gid_t));
  }
  peer.groups.resize(size / sizeof(gid_t));
  peer.groups.push_back(credentials.gid);
  return peer;
}

std::string UserNameOf(uid_t uid) {
  std::array<char, 4096> buffer{};
  struct passwd record {};
  struct passwd* found = nullptr;
  if (getpwuid_r(uid, &record, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::to_string(uid);
  return record.pw_name;
}

Access AccessOf(const Peer& peer, const AccessRules& rules) {
  if (peer.uid == 0 || peer.uid == rules.own_uid || IsIn(peer, rules.admin_group)) return Access::kChange;
  return IsIn(peer, rules.read_group) ? Access::kRead : Access::kNone;
}

}  // namespace etl
