// Stop sequences on our side: not every server knows them, and some leave the sequence in the text.
#ifndef GLOVEPORT_CORE_MODEL_STOP_TEXT_H_
#define GLOVEPORT_CORE_MODEL_STOP_TEXT_H_

#include <string>
#include <vector>

#include "gloveport/core/model/model.h"

namespace gloveport {

// Cuts `reply.content` before the first place where one of `stop` begins; finish_reason is then "stop". Empty
// sequences are ignored.
void CutAtStop(const std::vector<std::string>& stop, ChatReply& reply);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_STOP_TEXT_H_
