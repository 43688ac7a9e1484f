#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace etl {

// What a caller can do about a failure. Each value is one decision, not one cause: the cause is
// `Error::code`.
enum class Errc : std::uint8_t {
  kInvalid,      // the input breaks a documented rule; the same input will fail again
  kNotFound,     // the thing asked for does not exist
  kUnavailable,  // a remote, a lock or the disk refused for now; try again later
  kConflict,     // the request contradicts what is already there
  kCorrupt,      // stored bytes disagree with their digest or checksum; needs an operator
  kStopped,      // shutdown was requested
};

// The name of a decision, in lower case ("not found").
std::string_view ToString(Errc errc) noexcept;

// A failure that can be shown to a person and matched by a program.
//
// `code` is a stable upper-case word (DUPLICATE_MEMBER); tests and scripts match on it. `where` is the place
// in the input: a JSON path ("$.spec.axes"), "byte 17", a file, a request, a key. `what` says why, on one
// line, without a trailing period and without secrets. `fix` says what to do, and is empty only where nothing
// can be done.
struct Error {
  Errc errc = Errc::kInvalid;
  std::string code;
  std::string where;
  std::string what;
  std::string fix;

  // "CODE at WHERE: WHAT; FIX", leaving out what is empty.
  std::string Message() const;
};

// A value or an Error. [[nodiscard]], so that a dropped failure does not compile; otherwise used like
// tl::expected: `if (!r) return Fail(std::move(r).error());`, `*r`, `r->member`.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result() = default;
};

using Status = Result<void>;

inline tl::unexpected<Error> Fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

inline tl::unexpected<Error> Fail(Errc errc, std::string code, std::string where, std::string what,
                                  std::string fix) {
  return tl::unexpected<Error>(
      Error{errc, std::move(code), std::move(where), std::move(what), std::move(fix)});
}

}  // namespace etl

// ETL_TRY(decl, expr): binds the value of the Result `expr` to `decl`, or returns its error from this
// function. ETL_CHECK_OK(expr): the same for a Status, binding nothing.
#define ETL_CONCAT_INNER(a, b) a##b
#define ETL_CONCAT(a, b) ETL_CONCAT_INNER(a, b)
#define ETL_TRY_IMPL(tmp, decl, ...)                                     \
  auto tmp = (__VA_ARGS__);                                              \
  if (!tmp) return tl::unexpected<::etl::Error>(std::move(tmp).error()); \
  decl = *std::move(tmp)
#define ETL_TRY(decl, ...) ETL_TRY_IMPL(ETL_CONCAT(etl_try_, __COUNTER__), decl, __VA_ARGS__)
#define ETL_CHECK_OK(...)                                                 \
  do {                                                                    \
    if (auto etl_status = (__VA_ARGS__); !etl_status)                     \
      return tl::unexpected<::etl::Error>(std::move(etl_status).error()); \
  } while (false)
