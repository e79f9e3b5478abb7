// What a server of models says is wrong, in the forms of the known protocols. Pure; the texts are not yet
// safe to show.
#ifndef GLOVEPORT_CORE_MODEL_SERVER_ERROR_H_
#define GLOVEPORT_CORE_MODEL_SERVER_ERROR_H_

#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// The words, as far as they are found in the usual places of `body`: "error" (text or object), "message",
// "detail".
std::string ServerMessage(const Json& body);

// kDenied (401, 403), kResourceExhausted (429), kIo (408, 409, 5xx), else kInvalidArgument.
ErrorCode CodeForStatus(int status);

struct ServerError {
  ErrorCode code = ErrorCode::kProtocol;  // kProtocol where its kind is not known
  std::string message;                    // never empty
  bool again = false;                     // as for a status that is worth another try
};

// An error that comes without a status, within an answer of status 200: an object with "type", "code" (a word
// or a status), "message", or a text.
ServerError ReadServerError(const Json& error);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_SERVER_ERROR_H_
