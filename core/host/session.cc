#include "gloveport/core/host/session.h"

#include <memory>
#include <utility>

namespace gloveport {

std::string_view CompletenessName(Completeness completeness) {
  switch (completeness) {
    case Completeness::kComplete:
      return "complete";
    case Completeness::kIncomplete:
      return "incomplete";
    case Completeness::kInvalid:
      return "invalid";
  }
  return "invalid";
}

std::future<Result<CellResult>> Session::Start(std::string code, const RunOptions& options) {
  // A std::function must be copyable, a promise is not.
  auto promise = std::make_shared<std::promise<Result<CellResult>>>();
  std::future<Result<CellResult>> future = promise->get_future();
  RunAsync(std::move(code), options,
           [promise](Result<CellResult> result) { promise->set_value(std::move(result)); });
  return future;
}

}  // namespace gloveport
