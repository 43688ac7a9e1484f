#include "daemon/control_client.h"

#include <array>
#include <charconv>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "model/json.h"

namespace etl {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Socket = boost::asio::local::stream_protocol::socket;

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

tl::unexpected<Error> Unanswered(const std::string& path, const error_code& error) {
  return Fail(Errc::kUnavailable, "CONTROL_SOCKET", path, "the daemon does not answer: " + error.message(),
              "see `systemctl status etld`");
}

tl::unexpected<Error> Cut(const std::string& path) {
  return Fail(Errc::kUnavailable, "CONTROL_CUT", path, "the daemon ended before the command did",
              "see its log, and run the command again");
}

tl::unexpected<Error> Refused(const std::string& path, unsigned status, const std::string& body) {
  std::string what;
  if (const auto document = json::Document::Parse(body)) what = document->root().Find("what").AsString();
  if (status == 403)
    return Fail(Errc::kInvalid, "CONTROL_FORBIDDEN", path, "the daemon lets you not: " + what,
                "run this as root, or as a member of the group etld (to ask) or etld-admin (to change)");
  if (status == 503)
    return Fail(Errc::kUnavailable, "CONTROL_BUSY", path, "the daemon is busy: " + what, "try again later");
  return Fail(Errc::kInvalid, "CONTROL_REQUEST", path,
              "the daemon answered " + std::to_string(status) + ": " + what,
              "use the etlctl of the same version as the daemon");
}

// Reads the body of a refusal, as far as it comes.
std::string RestOf(Socket& socket, boost::beast::flat_buffer& buffer,
                   http::response_parser<http::buffer_body>& parser) {
  http::response_parser<http::string_body> whole(std::move(parser));
  error_code ignored;
  http::read(socket, buffer, whole, ignored);
  return whole.get().body();
}

}  // namespace

Result<int> CallDaemon(const std::string& socket_path, const ControlCall& call,
                       const std::function<void(ControlFrame::Kind, std::string_view)>& sink) {
  boost::asio::io_context io;
  Socket socket(io);
  error_code error;
  if (socket_path.empty() || socket_path.size() > 107) {
    return Unanswered(socket_path, make_error_code(boost::system::errc::filename_too_long));
  }
  (void)socket.connect(boost::asio::local::stream_protocol::endpoint(socket_path), error);
  if (error) return Unanswered(socket_path, error);
  http::request<http::string_body> request(
      http::verb::post, boost::beast::string_view(kControlTarget.data(), kControlTarget.size()), 11,
      call.Json());
  request.set(http::field::host, "etld");
  request.set(http::field::content_type, "application/json");
  request.prepare_payload();
  http::write(socket, request, error);  // refused without being read: the answer says why
  boost::beast::flat_buffer buffer;
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);
  http::read_header(socket, buffer, parser, error);
  if (error) return Cut(socket_path);
  const unsigned status = parser.get().result_int();
  if (status != 200) return Refused(socket_path, status, RestOf(socket, buffer, parser));
  std::array<char, kReadBytes> bytes{};
  FrameReader frames;
  for (;;) {
    parser.get().body().data = bytes.data();
    parser.get().body().size = bytes.size();
    parser.get().body().more = true;
    http::read_some(socket, buffer, parser, error);
    if (error == http::error::need_buffer) error = {};
    frames.Append({bytes.data(), bytes.size() - parser.get().body().size});
    for (;;) {
      ETL_TRY(const std::optional<ControlFrame> frame, frames.Next());
      if (!frame) break;
      if (frame->kind != ControlFrame::Kind::kExit) {
        sink(frame->kind, frame->bytes);
        continue;
      }
      int exit = 1;
      std::from_chars(frame->bytes.data(), frame->bytes.data() + frame->bytes.size(), exit);
      return exit;
    }
    if (error || parser.is_done()) return Cut(socket_path);
  }
}

}  // namespace etl
