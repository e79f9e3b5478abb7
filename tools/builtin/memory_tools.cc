#include "gloveport/tools/builtin/memory_tools.h"

#include <utility>

#include "gloveport/tools/binding.h"

namespace gloveport {
namespace {

using SharedFile = std::shared_ptr<MemoryFile>;

Result<std::shared_ptr<Tool>> MakeRemember(const SharedFile& file) {
  return BindFunction("remember",
                      "Keeps a value for later sessions, in the place of what was kept under the key",
                      [file](const std::string& key, const Value& value) -> Status {
                        if (!value.is_null()) return file->Put(key, value);
                        RETURN_IF_ERROR(file->Remove(key));
                        return {};
                      },
                      {Arg("key"), Arg("value", "plain data; None forgets the key")});
}

Result<std::shared_ptr<Tool>> MakeRecall(const SharedFile& file) {
  return BindFunction("recall", "Gives what was remembered under a key",
                      [file](const std::string& key, Value otherwise) -> Result<Value> {
                        ASSIGN_OR_RETURN(auto found, file->Get(key));
                        return found ? std::move(*found) : std::move(otherwise);
                      },
                      {Arg("key"), Arg("default", "where there is nothing", nullptr)});
}

Result<std::shared_ptr<Tool>> MakeRecallKeys(const SharedFile& file) {
  return BindFunction("recall_keys", "Lists the keys under which something is remembered",
                      [file](const std::string& prefix) { return file->Keys(prefix); },
                      {Arg("prefix", "with which they begin", "")});
}

}  // namespace

Result<std::vector<std::shared_ptr<Tool>>> MakeMemoryTools(MemoryToolOptions options) {
  if (options.file.empty())
    return Fail(ErrorCode::kInvalidArgument, "remember and recall have no file",
                "name one: \"file\": \"memory.json\"");
  const auto file = std::make_shared<MemoryFile>(std::move(options.file), options.limits);
  RETURN_IF_ERROR(file->Check());
  std::vector<std::shared_ptr<Tool>> tools;
  for (const auto make : {&MakeRemember, &MakeRecall, &MakeRecallKeys}) {
    ASSIGN_OR_RETURN(auto tool, make(file));
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace gloveport
