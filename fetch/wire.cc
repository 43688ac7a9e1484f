#include "fetch/wire.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <curl/curl.h>

namespace etl {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

// A socket of curl's. The descriptor only borrows it: it is released, never closed.
struct Wire::Watch {
  Watch(const asio::any_io_executor& executor, int socket_in)
      : socket(socket_in), descriptor(executor, socket_in) {}
  int socket;
  asio::posix::stream_descriptor descriptor;
  int wanted = 0;  // CURL_POLL_*
  bool reading = false, writing = false;
  bool gone = false;
};

struct Wire::Active {
  Transfer* transfer;
  Signal* done;
  WireAnswer* answer;
};

struct Wire::Callbacks {
  static int OnSocket(CURL* /*easy*/, curl_socket_t socket, int what, void* wire, void* /*unused*/) {
    static_cast<Wire*>(wire)->OnSocket(socket, what);
    return 0;
  }
  static int OnTimer(CURLM* /*multi*/, long timeout_ms, void* wire) {
    static_cast<Wire*>(wire)->OnTimer(timeout_ms);
    return 0;
  }
};

Wire::Wire(const asio::any_io_executor& executor, WireOptions options)
    : executor_(executor),
      options_(std::move(options)),
      timer_(executor),
      sweep_(executor),
      multi_(curl_multi_init()) {
  if (multi_ == nullptr) throw std::bad_alloc();
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Callbacks::OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Callbacks::OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, long{options_.settings.connections_max});
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, long{options_.settings.connections_max} + 2);
}

Wire::~Wire() {
  idle_.clear();
  curl_multi_cleanup(multi_);  // closes what is kept; OnSocket empties watches_
}

asio::awaitable<WireAnswer> Wire::Send(const WireRequest& request, Ticket& ticket) {
  WireAnswer answer;
  if (ticket.cancelled()) {
    answer.failure.emplace();
    answer.failure->code = "STOPPED";
    co_return answer;
  }
  std::unique_ptr<Transfer> transfer;
  if (idle_.empty()) {
    transfer = std::make_unique<Transfer>(options_);
  } else {
    transfer = std::move(idle_.back());
    idle_.pop_back();
  }
  Signal done(executor_);
  transfer->Begin(request);
  active_.push_back({transfer.get(), &done, &answer});
  if (curl_multi_add_handle(multi_, transfer->easy()) != CURLM_OK) End(transfer.get(), CURLE_FAILED_INIT);
  if (!std::exchange(sweeping_, true)) Sweep();
  {
    Transfer* const started = transfer.get();
    const Ticket::Wait wait(ticket, [this, started] {
      started->FailWith("STOPPED", "asked to stop");
      End(started, CURLE_ABORTED_BY_CALLBACK);
    });
    co_await done.Wait();
  }
  idle_.push_back(std::move(transfer));
  co_return answer;
}

void Wire::End(Transfer* transfer, int curl_code) {
  const auto place = std::find_if(active_.begin(), active_.end(),
                                  [&](const Active& active) { return active.transfer == transfer; });
  if (place == active_.end()) return;  // ended already, its waiter has not run yet
  const Active active = *place;
  active_.erase(place);
  curl_multi_remove_handle(multi_, transfer->easy());
  *active.answer = transfer->End(curl_code);
  active.done->Set();
}

void Wire::Act(int socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    char* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    End(reinterpret_cast<Transfer*>(transfer), code);
  }
}

// A wait of Asio's ends with one event, while curl's wish stands until it changes it: so each event waits
// anew.
void Wire::Arm(const std::shared_ptr<Watch>& watch) {
  const auto wait = [&](bool Watch::*waiting, int direction, int selected,
                        asio::posix::stream_descriptor::wait_type type) {
    if ((watch->wanted & direction) == 0 || watch.get()->*waiting) return;
    watch.get()->*waiting = true;
    watch->descriptor.async_wait(type, [this, watch, waiting, direction, selected](error_code error) {
      watch.get()->*waiting = false;
      if (watch->gone || error == asio::error::operation_aborted) return;
      if ((watch->wanted & direction) != 0) Act(watch->socket, error ? CURL_CSELECT_ERR : selected);
      if (!watch->gone) Arm(watch);
    });
  };
  wait(&Watch::reading, CURL_POLL_IN, CURL_CSELECT_IN, asio::posix::stream_descriptor::wait_read);
  wait(&Watch::writing, CURL_POLL_OUT, CURL_CSELECT_OUT, asio::posix::stream_descriptor::wait_write);
}

void Wire::OnSocket(int socket, int what) {
  auto place = watches_.find(socket);
  if (what == CURL_POLL_REMOVE) {
    if (place == watches_.end()) return;
    place->second->gone = true;
    place->second->descriptor.release();
    watches_.erase(place);
    return;
  }
  if (place == watches_.end())
    place = watches_.emplace(socket, std::make_shared<Watch>(executor_, socket)).first;
  place->second->wanted = what;
  Arm(place->second);
}

void Wire::OnTimer(long timeout_ms) {
  if (timeout_ms < 0) {
    timer_.cancel();
    return;
  }
  // Not even 0 may act from in here.
  timer_.expires_after(milliseconds(timeout_ms));
  timer_.async_wait([this](error_code error) {
    if (!error) Act(CURL_SOCKET_TIMEOUT, 0);
  });
}

void Wire::Sweep() {
  const FetchSettings& settings = options_.settings;
  const auto now = std::chrono::steady_clock::now();
  std::vector<Transfer*> late;
  for (const Active& active : active_) {
    Transfer& transfer = *active.transfer;
    if (now - transfer.started() >= milliseconds(settings.whole_ms)) {
      transfer.FailWith("HTTP_TIMEOUT",
                        "the answer was not complete after " + std::to_string(settings.whole_ms) + " ms");
    } else if (transfer.active() && now - *transfer.active() >= milliseconds(settings.idle_ms)) {
      transfer.FailWith("HTTP_TIMEOUT_IDLE", "nothing came for " + std::to_string(settings.idle_ms) + " ms");
    } else {
      continue;
    }
    late.push_back(&transfer);
  }
  for (Transfer* transfer : late) End(transfer, CURLE_OPERATION_TIMEDOUT);
  if (active_.empty()) {
    sweeping_ = false;
    return;
  }
  const auto pause = std::clamp<std::int64_t>(std::min(settings.idle_ms, settings.whole_ms) / 8, 5, 250);
  sweep_.expires_after(milliseconds(pause));
  sweep_.async_wait([this](error_code error) {
    if (!error) Sweep();
  });
}

}  // namespace etl
