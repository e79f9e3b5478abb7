#include "gloveport/core/model/recorder.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/model/recording.h"
#include "gloveport/core/model/secret_text.h"

namespace gloveport {
namespace {

void HideSecrets(Json& json, const std::vector<std::string>& secrets) {
  if (json.is_structured()) {
    for (Json& item : json) HideSecrets(item, secrets);
    return;
  }
  if (!json.is_string()) return;
  auto& text = json.get_ref<std::string&>();
  text = WithoutSecrets(std::move(text), secrets);
}

}  // namespace

Recorder::Recorder(std::unique_ptr<Model> model, std::filesystem::path file, UniqueFd fd,
                   std::vector<std::string> secrets)
    : model_(std::move(model)), file_(std::move(file)), secrets_(std::move(secrets)), fd_(std::move(fd)) {}

Result<std::unique_ptr<Recorder>> Recorder::Create(std::unique_ptr<Model> model,
                                                   const std::filesystem::path& file,
                                                   std::vector<std::string> secrets) {
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!fd && errno == EEXIST) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} exists already", file.string()),
                "a recording is a new file; name another, or remove it");
  }
  if (!fd) return FailErrno("cannot make the recording " + file.string(), errno);
  return std::unique_ptr<Recorder>(new Recorder(std::move(model), file, std::move(fd), std::move(secrets)));
}

Status Recorder::Write(const ChatRequest& request, const Result<ChatReply>& reply) {
  const std::lock_guard lock(mutex_);
  Exchange exchange{model_->name(), {}, reply};
  exchange.request.messages = request.messages;
  exchange.request.stop = request.stop;
  exchange.request.temperature = request.temperature;
  exchange.request.max_tokens = request.max_tokens;
  exchange.request.form = request.form;
  Json json = ExchangeJson(exchange, previous_);
  HideSecrets(json, secrets_);
  if (auto written = WriteFull(fd_.get(), AsBytes(DumpJson(json) + "\n"), Deadline::Never()); !written) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot write the recording {}: {}", file_.string(), written.error().message));
  }
  previous_ = request.messages;
  return {};
}

Result<ChatReply> Recorder::Complete(const ChatRequest& request) {
  auto reply = model_->Complete(request);
  if (!reply && request.cancel.stop_requested()) return reply;
  RETURN_IF_ERROR(Write(request, reply));
  return reply;
}

}  // namespace gloveport
