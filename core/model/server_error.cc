#include "gloveport/core/model/server_error.h"

#include <array>
#include <string_view>

#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

struct Kind {
  std::string_view word;  // within the error's type or code
  ErrorCode code;
  bool again;
};

// The first that fits counts.
constexpr std::array kKinds = {
    Kind{"quota", ErrorCode::kResourceExhausted, false},
    Kind{"billing", ErrorCode::kResourceExhausted, false},
    Kind{"rate_limit", ErrorCode::kResourceExhausted, true},
    Kind{"overloaded", ErrorCode::kIo, true},
    Kind{"server_error", ErrorCode::kIo, true},
    Kind{"api_error", ErrorCode::kIo, true},
    Kind{"timeout", ErrorCode::kIo, true},
    Kind{"unavailable", ErrorCode::kIo, true},
    Kind{"authentication", ErrorCode::kDenied, false},
    Kind{"permission", ErrorCode::kDenied, false},
    Kind{"invalid", ErrorCode::kInvalidArgument, false},
    Kind{"not_found", ErrorCode::kInvalidArgument, false},
};

int StatusOf(const Json& error) {
  for (const char* key : {"code", "status", "status_code"}) {
    const auto number = IntegerOf(error, key);
    if (number >= 400 && number < 600) return static_cast<int>(number);
  }
  return 0;
}

}  // namespace

std::string ServerMessage(const Json& body) {
  if (const Json* error = Member(body, "error")) {
    return error->is_string() ? error->get<std::string>() : TextOf(*error, "message");
  }
  for (const char* key : {"message", "detail"}) {
    if (auto found = TextOf(body, key); !found.empty()) return found;
  }
  return "";
}

ErrorCode CodeForStatus(int status) {
  if (status == 401 || status == 403) return ErrorCode::kDenied;
  if (status == 429) return ErrorCode::kResourceExhausted;
  return status == 408 || status == 409 || status >= 500 ? ErrorCode::kIo : ErrorCode::kInvalidArgument;
}

ServerError ReadServerError(const Json& error) {
  ServerError read;
  read.message = error.is_string() ? error.get<std::string>() : ServerMessage(error);
  const std::string words = TextOf(error, "type") + " " + TextOf(error, "code");
  if (read.message.empty()) read.message = words.size() > 1 ? words : "it does not say which";
  if (const int status = StatusOf(error); status != 0) {
    read.code = CodeForStatus(status);
    read.again = read.code == ErrorCode::kIo || read.code == ErrorCode::kResourceExhausted;
    return read;
  }
  for (const Kind& kind : kKinds) {
    if (words.find(kind.word) == std::string::npos) continue;
    read.code = kind.code;
    read.again = kind.again;
    break;
  }
  return read;
}

}  // namespace gloveport
