#pragma once

#include <memory>

namespace etl {

// Tells a TLS connection that its peer has ended (close_notify, RFC 8446, section 6.1) from one that was
// merely cut, which curl 7.88 takes for the same. Both functions belong to the thread of the connections.

// For each new SSL_CTX, before it makes a connection.
void WatchTlsEnd(void* ssl_ctx);
// For an open connection's SSL: becomes true when its peer's close_notify arrives. Null when it is no watched
// one.
std::shared_ptr<const bool> TlsEnd(void* ssl);

}  // namespace etl
