#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/loopback_upstream.h"

namespace etl::test {

// How a body's end is told.
enum class Framing : std::uint8_t {
  kLength,   // Content-Length
  kChunked,  // Transfer-Encoding: chunked
  kClose,    // neither: the end of the connection
};

// The bytes of an answer on the wire, complete and correct.
std::string WireBytes(const LoopbackAnswer& answer, Framing framing = Framing::kLength);
// As the steps to send it; the body is not copied. `is_last` says so to the client ("Connection: close",
// which Framing::kClose implies) and ends the connection.
Wire WireOf(const LoopbackAnswer& answer, Framing framing = Framing::kLength, bool is_last = false);

// Every action that is about a body answers in full, with the body that was due, also where a 304 was; those
// that say "the usual answer" keep a 304 and a HEAD as they are.

// ---- Bodies that end where they should not. The usual answer's body, unless it says otherwise.

// Sends `bytes` of the body and ends the connection; in TLS without close_notify when `cut_tls`. With chunked
// framing the body is one chunk that is told in full, so that every cut is in its middle or before the
// last chunk.
LoopbackAction CutBody(std::size_t bytes, Framing framing = Framing::kLength, bool cut_tls = false);
// Sends the first `bytes` of the whole answer, head and chunk marks included, and ends the connection.
LoopbackAction CutWire(std::size_t bytes, Framing framing = Framing::kLength);
// Content-Length differs from the body by `difference`; the connection is then ended.
LoopbackAction WrongLength(std::int64_t difference);
// Complete, without Content-Length, ended by the connection's end.
LoopbackAction ReplyFramed(Framing framing);
// Ends the connection after the body without TLS's close_notify.
LoopbackAction CutTls(Framing framing = Framing::kClose);

// ---- Slowness.

LoopbackAction SlowFirstByte(int pause_ms);  // then the usual answer
// The usual answer, `piece_bytes` at a time with a pause before each.
LoopbackAction Drip(std::size_t piece_bytes, int pause_ms);
LoopbackAction Silence();                        // not a byte, until the client goes away
LoopbackAction SilenceAfter(std::size_t bytes);  // that much of the usual answer, then nothing
LoopbackAction Reset();                          // before a byte was sent
LoopbackAction ResetAfter(std::size_t bytes);    // after that much of the usual answer
LoopbackAction CloseAtOnce();                    // in order, without an answer

// ---- Content codings.

enum class Coding : std::uint8_t { kGzip, kDeflate };
// A 200 of `decoded_bytes` zeros, compressed about a thousandfold, made while it is sent. With `levels` 2 and
// 3 compressed again and named "gzip, gzip": then at most 1 GiB.
LoopbackAction Bomb(Coding coding, std::uint64_t decoded_bytes, int levels = 1);
LoopbackAction Compressed(Coding coding, int levels = 1);  // the usual body, so coded, and named so
LoopbackAction TruncatedGzip(std::size_t missing_bytes);   // without the last bytes (8 is the whole trailer)
LoopbackAction BadGzipCrc();
LoopbackAction BadGzipSize();
LoopbackAction TrailingGarbageGzip();
LoopbackAction NamedCoding(std::string coding);  // the usual body as it is, named as coded so

std::string GzipText(std::string_view text);
std::string DeflateText(std::string_view text);  // zlib format, as HTTP's "deflate"

// ---- Redirects and statuses.

LoopbackAction Redirect(int status, std::string location);  // as given: absolute, or a path
LoopbackAction RedirectToItself(int status = 301);
LoopbackAction NotModified(Headers headers = {});  // a 304, asked for or not
LoopbackAction UsualInFull();                      // a 200 with the body, also where a 304 was due
LoopbackAction FlappingEtag();                     // the usual body, another ETag every time
LoopbackAction WithHeaders(Headers headers);       // the usual answer and these; a name given replaces
LoopbackAction Reply(int status, Headers headers, std::string body);
LoopbackAction Reply(int status, std::string body = {});
LoopbackAction Substitute(std::string body);  // the usual answer with this body

// ---- No HTTP as it should be.

LoopbackAction HugeHeader(std::size_t bytes);  // one header of that many bytes, then the usual answer
LoopbackAction EndlessHeaders();               // for as long as the client reads
LoopbackAction ManyHeaders(std::size_t count);
LoopbackAction BodyOf(std::uint64_t bytes, Framing framing = Framing::kLength);  // of blanks, streamed
LoopbackAction Raw(std::string bytes);  // these bytes as the answer, then the end

}  // namespace etl::test
