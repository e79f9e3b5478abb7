#include "gloveport/tools/reply.h"

namespace gloveport {

tl::unexpected<Error> GivenUp(const CallContext& context) {
  if (context.stop.stop_requested())
    return Fail(ErrorCode::kClosed, "the call was stopped before its answer came");
  return Fail(ErrorCode::kDeadlineExceeded, "the answer did not come in time");
}

}  // namespace gloveport
