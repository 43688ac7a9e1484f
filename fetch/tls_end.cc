#include "fetch/tls_end.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>

namespace etl {
namespace {

using Flag = std::shared_ptr<bool>;

void FreeFlag(void* /*ssl*/, void* flag, CRYPTO_EX_DATA* /*all*/, int /*index*/, long /*one*/,
              void* /*other*/) {
  delete static_cast<Flag*>(flag);
}

// The place of the flag in an SSL, which owns it.
int FlagIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, &FreeFlag);
  return index;
}

void OnTlsEvent(const SSL* ssl, int where, int value) {
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT || (value & 0xFF) != SSL_AD_CLOSE_NOTIFY) return;
  if (auto* const flag = static_cast<Flag*>(SSL_get_ex_data(ssl, FlagIndex()))) **flag = true;
}

}  // namespace

void WatchTlsEnd(void* ssl_ctx) {
  SSL_CTX_set_info_callback(static_cast<SSL_CTX*>(ssl_ctx), &OnTlsEvent);
}

std::shared_ptr<const bool> TlsEnd(void* ssl) {
  auto* const connection = static_cast<SSL*>(ssl);
  if (connection == nullptr) return nullptr;
  if (const auto* const flag = static_cast<Flag*>(SSL_get_ex_data(connection, FlagIndex()))) return *flag;
  auto flag = std::make_unique<Flag>(std::make_shared<bool>(false));
  Flag shared = *flag;
  if (SSL_set_ex_data(connection, FlagIndex(), flag.get()) != 1) return nullptr;
  static_cast<void>(flag.release());  // the SSL's now
  return shared;
}

}  // namespace etl
