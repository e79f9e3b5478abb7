#include "gloveport/core/model/stop_text.h"

#include <algorithm>

namespace gloveport {

void CutAtStop(const std::vector<std::string>& stop, ChatReply& reply) {
  auto first = std::string::npos;
  for (const std::string& sequence : stop) {
    if (!sequence.empty()) first = std::min(first, reply.content.find(sequence));
  }
  if (first == std::string::npos) return;
  reply.content.resize(first);
  reply.finish_reason = "stop";
}

}  // namespace gloveport
