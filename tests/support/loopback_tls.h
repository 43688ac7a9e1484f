#pragma once

#include <string>

namespace etl::test {

// A certificate authority made on the spot and a certificate that it signed, valid from yesterday to
// tomorrow; all PEM.
struct LoopbackCertificate {
  std::string authority;    // the authority's certificate
  std::string certificate;  // the server's
  std::string private_key;  // the server's
};

// `names` as OpenSSL writes alternative names: "IP:127.0.0.1,DNS:localhost". Throws std::runtime_error when
// OpenSSL refuses.
LoopbackCertificate MakeLoopbackCertificate(const std::string& names);

}  // namespace etl::test
