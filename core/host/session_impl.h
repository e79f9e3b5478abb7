// SessionImpl: a Session over a SessionProcess that is replaced when it is lost.
#ifndef GLOVEPORT_CORE_HOST_SESSION_IMPL_H_
#define GLOVEPORT_CORE_HOST_SESSION_IMPL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/host/call_limits.h"
#include "gloveport/core/host/inspector.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/scratch_folder.h"
#include "gloveport/core/host/session.h"
#include "gloveport/core/host/session_pool.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/host/tool_dispatcher.h"
#include "gloveport/policy/tool_rules.h"

namespace gloveport {

class SessionImpl : public Session {
 public:
  // `on_close` is called once, when the session is closed or goes.
  static Result<std::unique_ptr<Session>> Open(std::string id, SessionOptions options, SessionPool& pool,
                                               Inspector& inspector, std::function<void()> on_close);
  ~SessionImpl() override;

  const std::string& id() const override { return id_; }
  const Policy& policy() const override { return options_.policy; }
  const std::vector<LayerStatus>& layers() const override { return layers_; }
  Result<CellResult> Run(std::string_view code, const RunOptions& options) override;
  Status Interrupt() override;
  Status SetVariable(std::string_view name, const Value& value) override;
  Result<Value> GetVariable(std::string_view name) override;
  Status PutFile(std::string_view path, std::span<const std::byte> data) override;
  Result<std::vector<std::byte>> GetFile(std::string_view path) override;
  Result<std::vector<FileInfo>> ListFiles() override;
  Status RemoveFile(std::string_view path) override;
  void Close() override;

 private:
  SessionImpl(std::string id, SessionOptions options, SessionPool& pool, Inspector& inspector,
              std::function<void()> on_close);

  // All of these with run_mutex_ held.
  Status Prepare();
  Status StartProcess();
  Result<std::unique_ptr<SessionProcess>> FindProcess();
  Result<std::unique_ptr<SessionProcess>> StartPrivate(const TemplateOptions& options);
  Status DefineTools();
  Result<wire::Reply> AskSession(const std::string& operation, const Value& args);
  CellResult Denied(Verdict verdict);

  const std::string id_;
  const SessionOptions options_;
  SessionPool& pool_;
  Inspector& inspector_;
  std::function<void()> on_close_;
  ToolGate gate_;
  std::vector<LayerStatus> layers_;
  std::optional<ScratchFolder> scratch_;
  std::unique_ptr<ToolDispatcher> dispatcher_;
  std::shared_ptr<TemplateProcess> private_template_;  // where a folder of the host is bound

  std::mutex run_mutex_;  // one cell, question or file operation at a time
  std::unique_ptr<SessionProcess> process_;
  std::uint32_t next_cell_ = 0;
  SessionTotals totals_;
  std::atomic<bool> running_{false};
  std::atomic<bool> interrupt_{false};
  std::atomic<bool> closed_{false};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_IMPL_H_
