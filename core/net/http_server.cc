#include "gloveport/core/net/http_server.h"

#include <fmt/core.h>
#include <httplib.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "gloveport/core/base/text.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/net/http_connection.h"
#include "gloveport/core/net/http_head.h"
#include "gloveport/core/net/url.h"

namespace gloveport {
namespace {

using HandlerResponse = httplib::Server::HandlerResponse;

// The connection that this thread serves.
thread_local HttpConnection* t_connection = nullptr;
// The fields of its request, once they were read.
thread_local HttpHeaders t_headers;
// This thread accepts, and whom it serves itself there is no other for.
thread_local bool t_full = false;

// httplib's server on connections with limits.
class BoundedServer : public httplib::Server {
 public:
  BoundedServer(const HttpConnectionLimits& limits, const std::atomic<bool>& stopping)
      : limits_(limits), stopping_(stopping) {}

 private:
  bool process_and_close_socket(int socket) override {
    HttpConnection connection(UniqueFd(socket), limits_, stopping_);
    if (t_full) return connection.Refuse(503, "too many requests at once"), false;
    t_connection = &connection;
    Process(connection);
    t_connection = nullptr;
    return true;
  }

  // Later versions want to be told the addresses.
  template <typename Connection>
  void Process(Connection& connection) {
    bool closed = false;
    // An answer is whole, whatever parts of it are asked for, and how often.
    const auto whole = [](httplib::Request& request) { request.ranges.clear(); };
    if constexpr (requires { this->process_request(connection, true, closed, whole); }) {
      this->process_request(connection, true, closed, whole);
    } else {
      this->process_request(connection, std::string(), 0, std::string(), 0, true, closed, whole);
    }
  }

  const HttpConnectionLimits limits_;
  const std::atomic<bool>& stopping_;
};

// The constructor of httplib::Server ignores SIGPIPE for the whole process; that is for the host to decide.
// The server's own threads block all signals instead.
std::unique_ptr<httplib::Server> MakeServer(const HttpServerOptions& options,
                                            const std::atomic<bool>& stopping) {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  auto server =
      std::make_unique<BoundedServer>(HttpConnectionLimits{options.max_body_bytes, options.io_timeout,
                                                           options.body_timeout, options.io_timeout},
                                      stopping);
  ::sigaction(SIGPIPE, &before, nullptr);
  return server;
}

void UseReuseAddress(int socket) {
  // Not SO_REUSEPORT, httplib's default: with it another process could take a share of the connections.
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

// As many threads as there are requests at once, up to a limit: most last a moment, streams for hours.
class ThreadsOnDemand : public httplib::TaskQueue {
 public:
  explicit ThreadsOnDemand(std::size_t max_threads) : max_threads_(max_threads) {}

  // void, or bool in later versions: whether it was taken.
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Enqueued enqueue(std::function<void()> task) override {
    if (!Post(task)) {
      t_full = true;
      task();
      t_full = false;
    }
    return static_cast<Enqueued>(true);
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    posted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  bool Post(const std::function<void()>& task) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_threads_) return false;
    waiting_.push_back(task);
    if (idle_ >= waiting_.size() || threads_.size() == max_threads_ || !Start()) posted_.notify_one();
    return true;
  }

  bool Start() {
    try {
      threads_.emplace_back([this] { Work(); });
      return true;
    } catch (const std::system_error&) {
      return false;  // the others will come to it
    }
  }

  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      posted_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      const auto task = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  const std::size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

class SinkWriter : public HttpBodyWriter {
 public:
  SinkWriter(httplib::DataSink& sink, const std::atomic<bool>& stopping) : sink_(sink), stopping_(stopping) {}
  bool Write(std::string_view bytes) override {
    if (bytes.empty()) return !stopping_ && !failed_;
    if (!stopping_ && !failed_) failed_ = !sink_.write(bytes.data(), bytes.size());
    return !stopping_ && !failed_;
  }
  bool failed() const { return failed_; }

 private:
  httplib::DataSink& sink_;
  const std::atomic<bool>& stopping_;
  bool failed_ = false;
};

// What a request takes of all bodies' bytes.
class BodyShare {
 public:
  BodyShare(std::atomic<std::size_t>& taken, std::size_t limit) : taken_(taken), limit_(limit) {}
  ~BodyShare() { taken_ -= own_; }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  bool Take(std::size_t bytes) {
    own_ += bytes;
    return taken_.fetch_add(bytes) + bytes <= limit_;
  }

 private:
  std::atomic<std::size_t>& taken_;
  const std::size_t limit_;
  std::size_t own_ = 0;
};

HttpServerRequest Copy(const httplib::Request& request, HttpHeaders headers) {
  return {request.method, request.path, request.target, std::move(headers), {}};
}

// Returns the content type.
std::string AnswerHead(httplib::Response& out, HttpResponse& response) {
  std::string type = "application/octet-stream";
  for (HttpHeader& header : response.headers) {
    if (!CheckHeader(header)) {
      response = {500, {}, "the server made an invalid header field\n"};
      type = "text/plain; charset=utf-8";
      break;
    }
  }
  for (HttpHeader& header : response.headers) {
    if (EqualsIgnoringCase(header.name, "content-type")) {
      type = header.value;
    } else {
      out.set_header(header.name, header.value);
    }
  }
  out.status = response.status;
  return type;
}

void Answer(httplib::Response& out, HttpResponse response) {
  const std::string type = AnswerHead(out, response);
  out.set_content(response.body, type);
}

void Refuse(httplib::Response& out, int status, const std::string& why) {
  Answer(out, {status, {{"Content-Type", "text/plain; charset=utf-8"}}, why + "\n"});
}

bool HasBody(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

}  // namespace

struct HttpServer::State {
  HttpServerOptions options;
  Handler handler;
  std::unique_ptr<httplib::Server> server;
  std::uint16_t port = 0;
  std::vector<std::string> hosts;    // values of Host that are answered
  std::vector<std::string> origins;  // values of Origin that are answered
  std::atomic<bool> ended = false;
  std::atomic<bool> stopping = false;
  mutable std::atomic<std::size_t> body_bytes = 0;
  std::thread thread;

  std::string authority() const {
    const bool v6 = options.address.find(':') != std::string::npos;
    return fmt::format("{0}{1}{2}:{3}", v6 ? "[" : "", options.address, v6 ? "]" : "", port);
  }

  Status Bind();
  void SetUp();
  Status Run();
  void Handle(HttpServerRequest request, httplib::Response& out) const;
  void AnswerStream(HttpReply reply, httplib::Response& out) const;
  HandlerResponse Screen(const httplib::Request& request, httplib::Response& out) const;
  std::optional<HttpResponse> Objection(const HttpServerRequest& head) const;
  void HandleWithBody(const httplib::Request& request, httplib::Response& out,
                      const httplib::ContentReader& reader) const;
};

Status HttpServer::State::Bind() {
  if (options.address == "localhost") options.address = "127.0.0.1";
  if (!IsLoopbackHost(options.address)) {
    return Fail(ErrorCode::kDenied,
                fmt::format("an HTTP server on {} would be reachable from other machines", options.address),
                "listen on 127.0.0.1 and put a proxy with TLS and accounts before it");
  }
  int bound = options.port;
  if (options.port == 0) {
    bound = server->bind_to_any_port(options.address);
  } else if (!server->bind_to_port(options.address, options.port)) {
    bound = -1;
  }
  if (bound <= 0) {
    return Fail(ErrorCode::kIo, fmt::format("cannot listen on {} port {}", options.address, options.port),
                "choose another port, or 0 for one that is free");
  }
  port = static_cast<std::uint16_t>(bound);
  hosts = options.allowed_hosts;
  for (const std::string& name : {authority(), fmt::format("localhost:{}", port)}) {
    for (std::string_view written = name; !written.empty();) {
      hosts.emplace_back(written);
      origins.push_back("http://" + std::string(written));
      // The usual port need not be named.
      written = port == 80 && written.ends_with(":80") ? written.substr(0, written.size() - 3) : "";
    }
  }
  origins.insert(origins.end(), options.allowed_origins.begin(), options.allowed_origins.end());
  return {};
}

void HttpServer::State::SetUp() {
  server->set_socket_options([](auto socket) { UseReuseAddress(socket); });
  // One request for each connection: what a refused request leaves unread is never taken for the next one.
  server->set_keep_alive_max_count(1);
  server->set_read_timeout(options.io_timeout);
  server->set_write_timeout(options.io_timeout);
  server->set_payload_max_length(options.max_body_bytes);
  server->new_task_queue = [n = std::max<std::size_t>(options.threads, 1)] { return new ThreadsOnDemand(n); };
  server->set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& out) { return Screen(request, out); });
  const auto with_body = [this](const httplib::Request& request, httplib::Response& out,
                                const httplib::ContentReader& reader) {
    HandleWithBody(request, out, reader);
  };
  server->Post(".*", with_body);
  server->Put(".*", with_body);
  server->Patch(".*", with_body);
  server->Delete(".*", with_body);
  server->set_exception_handler([](const httplib::Request&, httplib::Response& out, std::exception_ptr) {
    Refuse(out, 500, "the server failed to answer");
  });
}

// What is answered before anybody reads further.
std::optional<HttpResponse> HttpServer::State::Objection(const HttpServerRequest& head) const {
  const auto refuse = [](int status, std::string why) {
    return HttpResponse{status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(why) + "\n"};
  };
  // How many fields of this name there are, all or those with a value of the list.
  const auto count = [&](std::string_view name, const std::vector<std::string>* list) {
    return std::count_if(head.headers.begin(), head.headers.end(), [&](const HttpHeader& field) {
      return EqualsIgnoringCase(field.name, name) &&
             (!list || std::any_of(list->begin(), list->end(), [&](const std::string& value) {
               return EqualsIgnoringCase(value, field.value);
             }));
    });
  };
  if (count("Host", nullptr) != 1 || count("Host", &hosts) != 1)
    return refuse(403, "this Host is not served here");
  if (count("Origin", nullptr) > 1 || count("Origin", nullptr) != count("Origin", &origins))
    return refuse(403, "pages of this origin may not use this server");
  const std::string* type = FindHeader(head.headers, "Content-Type");
  if (type && type->size() >= 9 && EqualsIgnoringCase(std::string_view(*type).substr(0, 9), "multipart"))
    return refuse(415, "bodies of several parts are not taken");
  return options.screen ? options.screen(head) : std::nullopt;
}

HandlerResponse HttpServer::State::Screen(const httplib::Request& request, httplib::Response& out) const {
  auto headers = ParseHttpHead(t_connection->head());
  if (!headers) return Refuse(out, 400, headers.error().message), HandlerResponse::Handled;
  t_headers = std::move(*headers);
  HttpServerRequest head = Copy(request, t_headers);
  if (auto answer = Objection(head)) {
    Answer(out, std::move(*answer));
  } else if (HasBody(request.method)) {
    return HandlerResponse::Unhandled;  // goes on to HandleWithBody
  } else {
    Handle(std::move(head), out);
  }
  return HandlerResponse::Handled;
}

void HttpServer::State::HandleWithBody(const httplib::Request& request, httplib::Response& out,
                                       const httplib::ContentReader& reader) const {
  HttpServerRequest copy = Copy(request, std::move(t_headers));
  BodyShare share(body_bytes, options.max_total_body_bytes);
  bool too_large = false;
  bool too_many = false;
  const bool whole = reader([&](const char* data, std::size_t size) {
    too_large = size > options.max_body_bytes - copy.body.size();
    too_many = !too_large && !share.Take(size);
    if (!too_large && !too_many) copy.body.append(data, size);
    return !too_large && !too_many;
  });
  const std::string* announced = FindHeader(copy.headers, "content-length");
  if (!whole && announced && out.status == 413) too_large = true;
  if (too_large) {
    Refuse(out, 413,
           fmt::format("the body is larger than the {} bytes that are allowed", options.max_body_bytes));
  } else if (too_many) {
    Refuse(out, 503, "too many bodies of requests at once: send this one again later");
  } else if (!whole) {
    Refuse(out, 400, "the body is malformed or was cut");
  } else {
    Handle(std::move(copy), out);
  }
}

void HttpServer::State::Handle(HttpServerRequest request, httplib::Response& out) const {
  try {
    HttpReply reply = handler(request);
    if (reply.stream) return AnswerStream(std::move(reply), out);
    Answer(out, std::move(reply.head));
  } catch (...) {
    Refuse(out, 500, "the server failed to answer");
  }
}

void HttpServer::State::AnswerStream(HttpReply reply, httplib::Response& out) const {
  const std::string type = AnswerHead(out, reply.head);
  if (out.status == 500) return out.set_content(reply.head.body, type);
  const auto write = [this, stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
    SinkWriter writer(sink, stopping);
    try {
      stream(writer);
    } catch (...) {
      return false;  // what was sent stands; the missing end says that it is not all
    }
    if (writer.failed()) return false;
    sink.done();
    return true;
  };
  out.set_chunked_content_provider(type, write);
}

Status HttpServer::State::Run() {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the thread and the pool that it makes
  Status status;
  try {
    thread = std::thread([this] {
      server->listen_after_bind();
      ended = true;
    });
  } catch (const std::system_error& error) {
    status = FailErrno("cannot start the HTTP server's thread", error.code().value());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() { Stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options, Handler handler) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->handler = std::move(handler);
  HttpServerOptions& kept = state->options;
  if (kept.max_total_body_bytes == 0) kept.max_total_body_bytes = 4 * kept.max_body_bytes;
  state->server = MakeServer(kept, state->stopping);
  state->SetUp();
  RETURN_IF_ERROR(state->Bind());
  RETURN_IF_ERROR(state->Run());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

std::uint16_t HttpServer::port() const { return state_->port; }
std::string HttpServer::origin() const { return "http://" + state_->authority(); }

void HttpServer::Stop() {
  if (!state_->thread.joinable()) return;
  state_->stopping = true;
  // httplib forgets a stop that comes before its loop has begun.
  while (!state_->server->is_running() && !state_->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  state_->server->stop();
  state_->thread.join();
}

}  // namespace gloveport
