#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "model/error.h"

namespace etl {

// The process at the other end of a UNIX socket, by what the kernel knows of it (SO_PEERCRED, SO_PEERGROUPS).
struct Peer {
  uid_t uid = 0;
  pid_t pid = 0;
  std::vector<gid_t> groups;  // its own and the supplementary ones
};

// Errors: kUnavailable CONTROL_PEER.
Result<Peer> PeerOf(int socket);

// The user's name, or the number where it has none.
std::string UserNameOf(uid_t uid);

enum class Access : std::uint8_t { kNone, kRead, kChange };

struct AccessRules {
  uid_t own_uid = 0;  // who runs the daemon could do all this without it
  std::string read_group, admin_group;
};

// What a process may do: root, whoever runs the daemon and members of the admin group may change things,
// members of the read group may ask. A group that does not exist has no members; the number of a group is
// looked up each time.
Access AccessOf(const Peer& peer, const AccessRules& rules);

}  // namespace etl
