#include "fetch/transfer.h"

#include <cassert>
#include <new>
#include <utility>

#include <curl/curl.h>
#include <strings.h>
#include <sys/socket.h>

#include "fetch/address.h"
#include "fetch/tls_end.h"

namespace etl {

// What curl calls. Nothing is done here but to hand over, and no exception passes into curl.
struct Transfer::Callbacks {
  static std::size_t OnHead(char* data, std::size_t /*one*/, std::size_t size, void* transfer) {
    return Keep(transfer, size, [&](Transfer& self) { return self.TakeHeadLine({data, size}); });
  }
  static std::size_t OnBody(char* data, std::size_t /*one*/, std::size_t size, void* transfer) {
    return Keep(transfer, size, [&](Transfer& self) { return self.TakeBody({data, size}); });
  }
  static curl_socket_t OnOpenSocket(void* transfer, curlsocktype /*purpose*/, curl_sockaddr* address) {
    bool may = false;
    Keep(transfer, 0,
         [&](Transfer& self) { return may = self.MayConnect(&address->addr, address->addrlen); });
    if (!may) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  static int OnSend(void* transfer, char* /*address*/, char* /*own*/, int /*port*/, int /*own_port*/) {
    return static_cast<Transfer*>(transfer)->MaySend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  }

  static CURLcode OnTls(CURL* /*easy*/, void* ssl_ctx, void* /*unused*/) {
    WatchTlsEnd(ssl_ctx);
    return CURLE_OK;
  }

  template <class Take>
  static std::size_t Keep(void* transfer, std::size_t size, Take take) {
    auto& self = *static_cast<Transfer*>(transfer);
    try {
      if (take(self)) return size;
    } catch (const std::bad_alloc&) {
      self.failure_.emplace();
      self.failure_->code = "HTTP_TOO_LARGE";  // short enough to need no memory
    } catch (...) {
      self.failure_.emplace();
      self.failure_->code = "HTTP_PROTOCOL";
    }
    return CURL_WRITEFUNC_ERROR;
  }
};

Transfer::Transfer(const WireOptions& options)
    : easy_(curl_easy_init()),
      curl_says_(CURL_ERROR_SIZE),
      header_bytes_max_(options.settings.header_bytes_max),
      loopback_only_(options.loopback_only) {
  if (easy_ == nullptr) throw std::bad_alloc();
  const FetchSettings& settings = options.settings;
  limits_ = {settings.wire_bytes_max, settings.decoded_bytes_max, settings.decode_ratio_max,
             settings.decode_ratio_free_bytes, 0};
  SetUp(options);
}

void Transfer::SetUp(const WireOptions& options) {
  CURL* const easy = easy_;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, curl_says_.data());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // never join a name lookup that hangs
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, options.loopback_only ? "http,https" : "https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // none from the environment
  curl_easy_setopt(easy, CURLOPT_NETRC, long{CURL_NETRC_IGNORED});
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.settings.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options.settings.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &Callbacks::OnTls);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.settings.connect_ms));
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 64L << 10);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Callbacks::OnHead);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Callbacks::OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &Callbacks::OnOpenSocket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Callbacks::OnSend);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  static_headers_ = curl_slist_append(nullptr, "Accept-Encoding: gzip, deflate");
  curl_slist* resolve = nullptr;
  for (const std::string& entry : options.resolve) resolve = curl_slist_append(resolve, entry.c_str());
  resolve_ = resolve;
  if (resolve != nullptr) curl_easy_setopt(easy, CURLOPT_RESOLVE, resolve);
}

Transfer::~Transfer() {
  curl_easy_cleanup(easy_);
  for (void* list : {static_headers_, headers_, resolve_})
    curl_slist_free_all(static_cast<curl_slist*>(list));
}

void Transfer::Begin(const WireRequest& request) {
  curl_slist_free_all(static_cast<curl_slist*>(std::exchange(headers_, nullptr)));
  void* headers = static_headers_;
  if (!request.held.empty()) {
    curl_slist* list = curl_slist_append(nullptr, "Accept-Encoding: gzip, deflate");
    if (IsHeaderValue(request.held.etag))
      list = curl_slist_append(list, ("If-None-Match: " + request.held.etag).c_str());
    if (IsHeaderValue(request.held.last_modified))
      list = curl_slist_append(list, ("If-Modified-Since: " + request.held.last_modified).c_str());
    headers = headers_ = list;
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, static_cast<curl_slist*>(headers));
  curl_easy_setopt(easy_, CURLOPT_URL, request.url.c_str());
  curl_says_[0] = '\0';
  head_.Start(header_bytes_max_);
  limits_.kept_bytes_max = request.kept_bytes_max;
  decoder_.Start(ContentCoding::kIdentity, limits_, 0);
  failure_.reset();
  refused_address_.clear();
  sockets_ = 0;
  resent_ = false;
  ends_with_tls_ = false;
  started_ = std::chrono::steady_clock::now();
  active_.reset();
}

bool Transfer::MayConnect(const void* address, std::size_t size) {
  const auto* const socket_address = static_cast<const sockaddr*>(address);
  const AddressVerdict verdict = ClassifyAddress(socket_address, size);
  const bool may = verdict.kind == (loopback_only_ ? AddressKind::kLoopback : AddressKind::kPublic);
  if (may) {
    ++sockets_;
  } else {
    refused_address_ = AddressText(socket_address, size) + " is " + verdict.why;
  }
  return may;
}

// A second time means that curl repeats the request, on another connection, after a kept one was closed under
// it. Who counts requests must be the one who repeats them.
bool Transfer::MaySend() {
  resent_ = active_.has_value();
  active_ = std::chrono::steady_clock::now();
  return !resent_;
}

bool Transfer::TakeHeadLine(std::string_view line) {
  active_ = std::chrono::steady_clock::now();
  const bool was_complete = head_.complete();
  switch (head_.Line(line)) {
    case HeadFault::kNone:
      break;
    case HeadFault::kTooLarge:
      FailWith("HTTP_HEADERS_TOO_LARGE", "the head has over " + std::to_string(header_bytes_max_) + " bytes");
      return false;
    case HeadFault::kCoding:
      FailWith("HTTP_CODING", "the answer is in a coding that was not asked for");
      return false;
    case HeadFault::kProtocol:
      FailWith("HTTP_PROTOCOL", "the head contradicts itself or is none of HTTP/1.x");
      return false;
  }
  if (was_complete || !head_.complete()) return true;
  const std::uint64_t length = head_.status() == 304 ? 0 : head_.content_length().value_or(0);
  if (length > limits_.wire_bytes_max) {
    FailWith(BodyFault::kTooLarge);
    return false;
  }
  BodyLimits limits = limits_;
  if (!head_.body_matters()) limits.kept_bytes_max = 0;
  decoder_.Start(head_.coding(), limits, length);
  if (!head_.has_end()) WatchEnd();
  return true;
}

// Only the end of the connection tells where the body ends: over TLS that end must be proven.
void Transfer::WatchEnd() {
  // Asked of a plain connection, curl names its TLS library all the same: the scheme tells.
  const char* scheme = nullptr;
  curl_easy_getinfo(easy_, CURLINFO_SCHEME, &scheme);
  if (scheme != nullptr && strcasecmp(scheme, "http") == 0) return;
  ends_with_tls_ = true;
  curl_tlssessioninfo* session = nullptr;
  if (curl_easy_getinfo(easy_, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == nullptr) return;
  tls_end_ = TlsEnd(session->internals);
}

bool Transfer::TakeBody(std::string_view bytes) {
  active_ = std::chrono::steady_clock::now();
  const BodyFault fault = decoder_.Feed(bytes);
  if (fault == BodyFault::kNone) return true;
  FailWith(fault);
  return false;
}

void Transfer::FailWith(std::string code, std::string what) {
  if (failure_) return;
  failure_.emplace();
  failure_->code = std::move(code);
  failure_->what = std::move(what);
}

void Transfer::FailWith(BodyFault fault) {
  switch (fault) {
    case BodyFault::kNone:
      break;
    case BodyFault::kTooLarge:
      return FailWith("HTTP_TOO_LARGE", "the body has over " + std::to_string(limits_.wire_bytes_max) +
                                            " bytes as sent, or over " +
                                            std::to_string(limits_.decoded_bytes_max) + " decoded");
    case BodyFault::kRatio:
      return FailWith("HTTP_DECODE_RATIO", "the body grew from " + std::to_string(decoder_.wire_bytes()) +
                                               " to over " + std::to_string(decoder_.decoded_bytes()) +
                                               " bytes");
    case BodyFault::kCoding:
      return FailWith("HTTP_CODING", "the body is not in the coding that it says, or has bytes behind it");
    case BodyFault::kTruncated:
      return FailWith("HTTP_TRUNCATED", "the coding of the body ends too early, or its checksum is wrong");
  }
}

WireFailure Transfer::Explain(int curl_code) const {
  const std::string said =
      curl_says_[0] != '\0' ? curl_says_.data() : curl_easy_strerror(static_cast<CURLcode>(curl_code));
  if (resent_) return {"HTTP_RESET", "the server closed a kept connection as the request was sent", true};
  if (!refused_address_.empty() && sockets_ == 0)
    return {"HTTP_ADDRESS_FORBIDDEN", "the host's address " + refused_address_, false};
  const char* code = "HTTP_PROTOCOL";
  switch (curl_code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      code = "HTTP_RESOLVE";
      break;
    case CURLE_COULDNT_CONNECT:
      code = "HTTP_CONNECT";
      break;
    case CURLE_OPERATION_TIMEDOUT:
      code = active_ ? "HTTP_TIMEOUT" : "HTTP_TIMEOUT_CONNECT";
      break;
    case CURLE_SSL_CONNECT_ERROR: {
      // curl has one code for a handshake that failed and for a connection that ended during it.
      const bool ended = said.find("SYSCALL") != std::string::npos ||
                         said.find("unexpected eof") != std::string::npos ||
                         said.find("reset by peer") != std::string::npos;
      code = ended ? "HTTP_RESET" : "HTTP_TLS";
      break;
    }
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      code = "HTTP_TLS";
      break;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      code = head_.complete() ? "HTTP_TRUNCATED" : "HTTP_RESET";
      break;
    // curl has no other word for a line that is longer than it reads.
    case CURLE_OUT_OF_MEMORY:
      code = head_.complete() ? "HTTP_TOO_LARGE" : "HTTP_HEADERS_TOO_LARGE";
      break;
    default:
      break;
  }
  return {code, said, false};
}

WireAnswer Transfer::End(int curl_code) {
  // curl takes a connection that ends inside a head for the end of the answer.
  if (curl_code == CURLE_OK && !head_.complete())
    FailWith("HTTP_RESET", "the connection ended inside the head of the answer");
  if (curl_code == CURLE_OK && head_.status() != 304 && head_.status() != 204) FailWith(decoder_.Finish());
  if (curl_code == CURLE_OK && ends_with_tls_ && !(tls_end_ && *tls_end_))
    FailWith("HTTP_TRUNCATED", "the TLS connection was cut where a body without length would end");
  tls_end_.reset();
  WireAnswer answer;
  answer.failure = std::exchange(failure_, std::nullopt);
  if (!answer.failure && curl_code != CURLE_OK) answer.failure = Explain(curl_code);
  answer.wire_bytes = decoder_.wire_bytes();
  answer.body = decoder_.TakeBody();
  if (answer.failure) answer.body.clear();
  answer.head = head_;
  return answer;
}

}  // namespace etl
