#include "fetch/exchange.h"

#include <algorithm>
#include <cctype>
#include <random>
#include <utility>

#include "fetch/address.h"
#include "fetch/http_date.h"
#include "fetch/http_error.h"

namespace etl {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kKeyBytesMax = 2048;

Error Stopped() {
  return HttpError("STOPPED", "", "asked to stop");
}

Url BaseOf(const FetchSettings& settings) {
  Url base = ParseUrl(settings.base_url).value_or(Url());
  while (base.target.ends_with('/')) base.target.pop_back();
  return base;
}

WireOptions OptionsOf(const FetchSettings& settings, const Url& base, const HttpSeams& seams) {
  WireOptions options;
  options.settings = settings;
  options.loopback_only = IsLoopbackHost(base.host);
  options.user_agent = "etld/" ETL_VERSION " (+" + settings.contact + ")";
  options.resolve = seams.resolve;
  return options;
}

std::uint64_t SeedOf(const FetchSettings& settings) {
  if (settings.jitter_seed != 0) return settings.jitter_seed;
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

BucketRate RateOf(const FetchSettings& settings) {
  return {settings.requests_per_second, settings.burst};
}

}  // namespace

Exchange::Host::Host(const asio::any_io_executor& executor, const FetchSettings& settings, Url at_in,
                     TokenBucket bucket_in)
    : at(std::move(at_in)),
      connections(executor, settings.connections_max),
      spacing(executor, 1),
      robots_reading(executor, 1),
      bucket(std::move(bucket_in)),
      breaker({settings.breaker_threshold, settings.breaker_cooldown_ms, settings.breaker_cooldown_cap_ms}) {}

Exchange::Exchange(const asio::any_io_executor& executor, const FetchSettings& settings, Clock& clock,
                   const HttpSeams& seams)
    : executor_(executor),
      settings_(settings),
      clock_(clock),
      seams_(seams),
      base_(BaseOf(settings)),
      wire_(executor, OptionsOf(settings, base_, seams)),
      backoff_({settings.backoff_base_ms, settings.backoff_cap_ms, settings.retry_after_cap_ms},
               SeedOf(settings)),
      retry_budget_(settings.retry_budget, settings.retry_budget_refill) {
  report_.host = base_.Authority();
}

Status Exchange::Open() {
  ETL_TRY(Host* const host, HostOf(base_));
  Publish(*host);
  return {};
}

Status Exchange::CheckKey(std::string_view key) {
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@/?%";
  const std::string_view path = key.substr(0, key.find('?'));
  const bool plain = std::all_of(key.begin(), key.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kPlain.find(c) != std::string_view::npos;
  });
  // Of the path, no part may be empty or lead upwards, in either spelling of a dot.
  bool names = true;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string part(path.substr(begin, end - begin));
    for (std::size_t at = 0; (at = part.find("%2", at)) != std::string::npos; ++at) {
      if (part.size() > at + 2 && (part[at + 2] == 'e' || part[at + 2] == 'E')) part.replace(at, 3, ".");
    }
    names = names && !part.empty() && part != "." && part != "..";
    begin = end + 1;
  }
  if (plain && names && key.size() <= kKeyBytesMax) return {};
  return Fail(
      HttpError("HTTP_KEY", std::string(key.substr(0, 200)), "the key is no plain relative path and query"));
}

std::string Exchange::StateFile(std::string_view kind, const Url& at) const {
  if (settings_.state_dir.empty()) return "";
  std::string name = std::string(kind) + "-" + at.scheme + "-" + at.host + "-" + std::to_string(at.port);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-'; }, '_');
  return settings_.state_dir + "/" + name;
}

Result<Exchange::Host*> Exchange::HostOf(const Url& url) {
  std::unique_ptr<Host>& host = hosts_[url.Origin()];
  if (host) return host.get();
  Url at = url;
  at.target = "/";
  // A bucket that is never asked needs no file.
  const std::string file = settings_.requests_per_second > 0 ? StateFile("bucket", url) : "";
  ETL_TRY(TokenBucket bucket, TokenBucket::Open(file, RateOf(settings_)));
  host = std::make_unique<Host>(executor_, settings_, std::move(at), std::move(bucket));
  return host.get();
}

// Whether a redirect may be followed.
bool Exchange::IsAllowed(const Url& from, const Url& to) const {
  if (to.scheme == "http" && (from.scheme == "https" || !IsLoopbackHost(base_.host))) return false;
  if (to.host == base_.host && to.port == base_.port) return true;
  return std::any_of(settings_.allowed_hosts.begin(), settings_.allowed_hosts.end(),
                     [&](const std::string& entry) {
                       const auto allowed = ParseUrl(to.scheme + "://" + entry);
                       return allowed && allowed->host == to.host && allowed->port == to.port;
                     });
}

asio::awaitable<Result<Response>> Exchange::Fetch(std::string_view key, const Validators& held,
                                                  Ticket& ticket, bool ahead) {
  Url url = base_;
  url.target += '/';
  url.target += key;
  WireRequest request;
  request.held = held;
  Result<WireAnswer> answer = co_await Follow(url, request, false, ticket, ahead);
  if (!answer) co_return Fail(std::move(answer).error());
  Result<Response> response = ToResponse(url, held, *std::move(answer));
  co_return response;
}

asio::awaitable<Result<WireAnswer>> Exchange::Follow(Url& url, const WireRequest& first, bool is_robots,
                                                     Ticket& ticket, bool ahead) {
  const Url origin = url;
  for (int hop = 0;; ++hop) {
    const Result<Host*> host = HostOf(url);
    if (!host) co_return Fail(host.error());
    if (!is_robots) {
      Status may = co_await CheckRobots(**host, url, ticket, ahead);
      if (!may) co_return Fail(std::move(may).error());
    }
    WireRequest request = first;
    request.url = url.Text();
    if (!url.SameOrigin(origin)) request.held = Validators();
    Result<WireAnswer> answer = co_await Ask(**host, request, ticket, ahead);
    if (!answer && hop > 0) answer.error().where = ShownUrl(answer.error().where);
    if (!answer || !answer->head.redirects()) co_return answer;
    if (hop == settings_.redirects_max) {
      co_return Fail(HttpError("HTTP_REDIRECTS", origin.Text(),
                               "the answer is behind more than " + std::to_string(hop) + " redirects"));
    }
    const auto next = ResolveLocation(url, answer->head.location());
    if (!next || !IsAllowed(url, *next)) {
      const std::string place = ShownUrl(answer->head.location());
      const std::string from = hop == 0 ? url.Text() : ShownUrl(url.Text());
      co_return Fail(HttpError("HTTP_REDIRECT_FORBIDDEN", from,
                               "the answer is a redirect to \"" + place.substr(0, 200) + "\""));
    }
    url = *next;
  }
}

asio::awaitable<Result<WireAnswer>> Exchange::Ask(Host& host, const WireRequest& request, Ticket& ticket,
                                                  bool ahead) {
  std::optional<Error> failure;
  for (int attempt = 1;; ++attempt) {
    Result<WireAnswer> answer = co_await Attempt(host, request, ticket, ahead);
    if (ticket.cancelled()) co_return Fail(Stopped());
    if (!answer) {
      // What went wrong before says more than that the breaker opened over it.
      const bool refused = answer.error().code == "HTTP_BREAKER_OPEN" && failure;
      co_return Fail(refused ? *std::move(failure) : std::move(answer).error());
    }
    failure = Judge(host, request, *answer);
    if (!failure) co_return answer;
    const bool again = IsRepeated(failure->code) && attempt < settings_.attempts_max &&
                       host.breaker.State(clock_.Now()) == BreakerState::kClosed && retry_budget_.Take();
    if (!again) co_return Fail(*std::move(failure));
    const auto retry_after_ms = ParseRetryAfterMs(answer->head.retry_after(), clock_.Now());
    const bool stale = answer->failure && answer->failure->stale;
    const bool busy = failure->code == "HTTP_BUSY";
    if (!stale) co_await Pause(backoff_.DelayMs(attempt, busy ? retry_after_ms : std::nullopt), ticket);
    if (ticket.cancelled()) co_return Fail(Stopped());
    const std::lock_guard<std::mutex> lock(mutex_);
    ++report_.retries;
  }
}

// Sends once, when it is this request's turn. An error here means that nothing was sent.
asio::awaitable<Result<WireAnswer>> Exchange::Attempt(Host& host, const WireRequest& request, Ticket& ticket,
                                                      bool ahead) {
  const bool entered = co_await host.connections.Enter(ticket, ahead);
  if (!entered) co_return Fail(Stopped());
  const Inside inside(host.connections);
  if (!host.breaker.Allow(clock_.Now())) {
    co_return Fail(
        HttpError("HTTP_BREAKER_OPEN", host.at.Origin(),
                  "the host failed too often; it is left alone until " + host.breaker.Until().Text()));
  }
  Status spaced = co_await Space(host, ticket);
  if (!spaced) {
    host.breaker.Abandoned();
    co_return Fail(std::move(spaced).error());
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++report_.requests;
  }
  WireAnswer answer = co_await wire_.Send(request, ticket);
  if (ticket.cancelled()) host.breaker.Abandoned();
  co_return answer;
}

asio::awaitable<Status> Exchange::Space(Host& host, Ticket& ticket) {
  if (settings_.requests_per_second <= 0) co_return Status();
  const bool entered = co_await host.spacing.Enter(ticket, false);
  if (!entered) co_return Fail(Stopped());
  const Inside inside(host.spacing);
  std::int64_t waited_ms = 0;
  Instant asked;
  while (true) {
    const Instant now = clock_.Now();
    const Result<std::int64_t> wait_ms = host.bucket.Take(now, waited_ms, asked);
    Publish(host);
    if (!wait_ms) co_return Fail(wait_ms.error());
    if (*wait_ms == 0) co_return Status();
    asked = now;
    waited_ms = *wait_ms;
    co_await Pause(waited_ms, ticket);
    if (ticket.cancelled()) co_return Fail(Stopped());
  }
}

asio::awaitable<void> Exchange::Pause(std::int64_t wanted_ms, Ticket& ticket) const {
  const std::int64_t real_ms = seams_.pacer != nullptr ? seams_.pacer->RealMs(wanted_ms) : wanted_ms;
  if (real_ms > 0) co_await Sleep(real_ms, ticket);
}

std::optional<Error> Exchange::Judge(Host& host, const WireRequest& request, const WireAnswer& answer) {
  std::optional<Error> failure;
  if (answer.head.complete() && answer.head.busy()) {
    failure = HttpError("HTTP_BUSY", request.url,
                        "the server answers with status " + std::to_string(answer.head.status()));
  } else if (answer.failure) {
    failure = HttpError(answer.failure->code, request.url, answer.failure->what);
  }
  if (answer.failure && answer.failure->stale) {
    host.breaker.Abandoned();
  } else if (failure && IsHostFailure(failure->code)) {
    host.breaker.Failed(clock_.Now());
  } else {
    host.breaker.Succeeded();
  }
  if (!failure) retry_budget_.GiveBack();
  Publish(host);
  const std::lock_guard<std::mutex> lock(mutex_);
  report_.wire_bytes += answer.wire_bytes;
  report_.body_bytes += answer.body.size();
  if (!failure && answer.head.status() == 304) ++report_.not_modified;
  if (failure) {
    ++report_.failures;
    report_.last_error = failure->Message();
  }
  return failure;
}

Result<Response> Exchange::ToResponse(const Url& url, const Validators& held, WireAnswer answer) const {
  const ResponseHead& head = answer.head;
  const bool own = url.SameOrigin(base_);
  const std::string place = own ? url.Text() : ShownUrl(url.Text());
  const bool conditional = own && (IsHeaderValue(held.etag) || IsHeaderValue(held.last_modified));
  if (head.status() == 304 && !conditional)
    return Fail(HttpError("HTTP_304_UNASKED", place, "\"not modified\" to a request without validators"));
  if (head.status() == 206)
    return Fail(HttpError("HTTP_PROTOCOL", place, "a part of the answer although the whole was asked for"));
  Response response;
  response.status = head.status();
  response.bytes = std::move(answer.body);
  response.origin = place;
  if (own) response.validators = head.validators();
  response.at = clock_.Now();
  return response;
}

void Exchange::Publish(Host& host) {
  if (!host.at.SameOrigin(base_)) return;
  const BucketState bucket = host.bucket.Peek(clock_.Now());
  const std::lock_guard<std::mutex> lock(mutex_);
  breaker_ = host.breaker;
  bucket_ = bucket;
}

HostReport Exchange::Report() {
  const Instant now = clock_.Now();
  const std::lock_guard<std::mutex> lock(mutex_);
  HostReport report = report_;
  report.bucket_level = settings_.burst;
  if (settings_.requests_per_second > 0)
    report.bucket_level = static_cast<double>(Refill(bucket_, RateOf(settings_), now).micro_tokens) / 1e6;
  if (breaker_) {
    report.breaker = breaker_->State(now);
    report.breaker_until = breaker_->Until();
  }
  return report;
}

}  // namespace etl
