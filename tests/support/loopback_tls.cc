#include "tests/support/loopback_tls.h"

#include <atomic>
#include <memory>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace etl::test {
namespace {

struct Deleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

void Require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL cannot make ") + what);
}

Owned<EVP_PKEY> MakeKey() {
  Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  Require(key != nullptr, "a key");
  return key;
}

void AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  Require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, "an extension");
}

Owned<X509> MakeUnsigned(EVP_PKEY* key, const char* name) {
  static std::atomic<long> serial{1};
  constexpr long kDaySeconds = 24L * 60 * 60;
  Owned<X509> certificate(X509_new());
  Require(certificate != nullptr, "a certificate");
  X509* const made = certificate.get();
  X509_NAME* const subject = X509_get_subject_name(made);
  std::string text = name;
  auto* const bytes = reinterpret_cast<unsigned char*>(text.data());
  Require(X509_set_version(made, 2) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(made), serial++) == 1 &&
              X509_gmtime_adj(X509_getm_notBefore(made), -kDaySeconds) != nullptr &&
              X509_gmtime_adj(X509_getm_notAfter(made), kDaySeconds) != nullptr &&
              X509_set_pubkey(made, key) == 1 &&
              X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, bytes, -1, -1, 0) == 1,
          "a certificate");
  return certificate;
}

template <class Write>
std::string Pem(Write write) {
  const Owned<BIO> memory(BIO_new(BIO_s_mem()));
  Require(memory != nullptr && write(memory.get()) == 1, "PEM text");
  const char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string CertificatePem(X509* certificate) {
  return Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

LoopbackCertificate MakeLoopbackCertificate(const std::string& names) {
  const Owned<EVP_PKEY> authority_key = MakeKey();
  const Owned<X509> authority = MakeUnsigned(authority_key.get(), "loopback test authority");
  X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get()));
  AddExtension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(authority.get(), authority.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(authority.get(), authority.get(), NID_subject_key_identifier, "hash");
  Require(X509_sign(authority.get(), authority_key.get(), EVP_sha256()) > 0, "a signature");

  const Owned<EVP_PKEY> key = MakeKey();
  const Owned<X509> certificate = MakeUnsigned(key.get(), "loopback test server");
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.get()));
  AddExtension(certificate.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(certificate.get(), authority.get(), NID_authority_key_identifier, "keyid");
  AddExtension(certificate.get(), authority.get(), NID_ext_key_usage, "serverAuth");
  AddExtension(certificate.get(), authority.get(), NID_subject_alt_name, names.c_str());
  Require(X509_sign(certificate.get(), authority_key.get(), EVP_sha256()) > 0, "a signature");

  return {CertificatePem(authority.get()), CertificatePem(certificate.get()), Pem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace etl::test
