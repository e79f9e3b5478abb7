#include "gloveport/core/cli/terminal_approver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/python_literal.h"

extern char** environ;

namespace gloveport {
namespace {

constexpr std::size_t kMaxEdited = 8u << 20;

// What the person's editor made of `text`; nothing where there is no editor, or it failed.
std::optional<std::string> EditText(std::string_view text, std::string_view suffix) {
  const char* editor = std::getenv("VISUAL");
  if (editor == nullptr || *editor == '\0') editor = std::getenv("EDITOR");
  if (editor == nullptr || *editor == '\0') return std::nullopt;
  std::string path =
      (std::filesystem::temp_directory_path() / "gloveport-XXXXXX").string() + std::string(suffix);
  const UniqueFd file(::mkostemps(path.data(), static_cast<int>(suffix.size()), O_CLOEXEC));
  if (!file || !WriteFull(file.get(), AsBytes(text), Deadline::Never())) return std::nullopt;
  // The editor may be a command with options; the path is an argument of its own and no part of the shell's
  // text.
  const std::string command = std::string(editor) + " \"$1\"";
  const std::array<const char*, 6> arguments = {"sh", "-c", command.c_str(), "sh", path.c_str(), nullptr};
  pid_t child = 0;
  int status = -1;
  if (::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(arguments.data()),
                    environ) == 0)
    ::waitpid(child, &status, 0);
  const auto edited = ReadFile(path, kMaxEdited);
  ::unlink(path.c_str());
  return status == 0 && edited ? std::optional(*edited) : std::nullopt;
}

}  // namespace

std::shared_ptr<TerminalApprover> TerminalApprover::Find(Console& console) {
  auto dialog = TerminalDialog::Open(console);
  return dialog ? std::make_shared<TerminalApprover>(std::move(dialog)) : nullptr;
}

void TerminalApprover::Ask(const ApprovalRequest& request, Answer answer) {
  dialog_->Ask(request.id, [this, request, answer = std::move(answer)] { answer(Decide(request)); });
}

void TerminalApprover::Show(const ApprovalRequest& request) {
  const bool is_cell = request.subject == ApprovalSubject::kCell;
  const std::string what =
      is_cell ? request.code : fmt::format("{}({})", request.tool, PythonArguments(request.arguments));
  dialog_->console().Note(fmt::format(
      "\n{}",
      dialog_->console().Paint(is_cell ? "This cell needs your approval" : "This call needs your approval",
                               Style::kWarning)));
  dialog_->console().Note(dialog_->console().Block(what, "  | "));
  dialog_->console().Note("  why: " + Console::Safe(request.reason));
  // A question of several lines stands above already.
  const std::string grant = request.grant.substr(0, request.grant.find('\n'));
  const std::string always = grant.empty() ? "" : "   [a]lways in this run: " + Console::Safe(grant);
  dialog_->console().Note(
      "  [y]es, this once" + always + "\n  [n]o   [e]dit it first   (no answer within " +
      fmt::format("{:.0f} s", std::chrono::duration<double>(request.deadline.left()).count()) + " is a no)");
}

ApprovalDecision TerminalApprover::Decide(const ApprovalRequest& request) {
  Console& console = dialog_->console();
  ApprovalDecision decision;
  decision.by = "terminal";
  decision.sha256 = request.sha256;
  if (dialog_->IsOver(request.id)) return decision;
  dialog_->DropTyped();
  Show(request);
  while (true) {
    console.Note(console.Paint("  y / a / n / e ?", Style::kBold));
    const auto line = dialog_->ReadLine(request.id);
    if (!line) {
      if (dialog_->IsOver(request.id)) console.Note("  No answer is needed any more.");
      return decision;
    }
    const std::string_view word = Trim(*line);
    decision.always = word == "a" || word == "always";
    decision.allowed = decision.always || word == "y" || word == "yes";
    if (decision.allowed) return decision;
    if (word == "e" || word == "edit") {
      Edit(request, decision);
      if (decision.allowed) return decision;
    } else if (word == "n" || word == "no") {
      console.Note("  Why? The model reads it; empty is fine.");
      if (const auto why = dialog_->ReadLine(request.id)) decision.reason = std::string(Trim(*why));
      return decision;
    }
  }
}

void TerminalApprover::Edit(const ApprovalRequest& request, ApprovalDecision& decision) {
  const bool is_cell = request.subject == ApprovalSubject::kCell;
  const auto edited =
      EditText(is_cell ? request.code : ToJson(request.arguments).dump(2), is_cell ? ".py" : ".json");
  if (!edited) return dialog_->console().Note("  No editor: set VISUAL or EDITOR.", Style::kWarning);
  if (is_cell) {
    decision.code = *edited;
    decision.allowed = true;
    return;
  }
  const auto json = ParseJson(*edited);
  auto value = json ? FromJson(*json) : Result<Value>(tl::unexpected<Error>(json.error()));
  if (!value || !value->is_map())
    return dialog_->console().Note(
        "  These are no arguments: " +
            (value ? std::string("a JSON object is needed") : Console::Safe(value.error().message)),
        Style::kWarning);
  decision.arguments = std::move(value->as_map());
  decision.allowed = true;
}

}  // namespace gloveport
