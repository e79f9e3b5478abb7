// A program whose tools are coroutines: they wait for a service without a callback, hop to a thread of the
// program's own for what is heavy, and are called side by side by the code of a cell.
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gloveport/gloveport.h"
#include "gloveport/tools/task.h"

namespace {

using gloveport::Arg;
using gloveport::CallContext;
using gloveport::ErrorCode;
using gloveport::Fail;
using gloveport::Result;
using gloveport::ResumeOn;
using gloveport::ToolTask;

// Stands for a service that answers by a future.
std::future<Result<double>> AskForPrice(std::string symbol) {
  return std::async(std::launch::async, [symbol = std::move(symbol)]() -> Result<double> {
    static const std::map<std::string, double> kPrices = {{"copper", 9100.5}, {"tin", 32000}, {"zinc", 2750}};
    const auto found = kPrices.find(symbol);
    if (found == kPrices.end()) return Fail(ErrorCode::kNotFound, "nobody trades " + symbol);
    return found->second;
  });
}

// One thread that does what is heavy, one thing after the other.
class Worker {
 public:
  Worker() : thread_([this](const std::stop_token& stop) { Work(stop); }) {}

  void Post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

 private:
  void Work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !work_.empty(); })) {
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> work_;
  std::jthread thread_;
};

ToolTask<Result<double>> Price(std::string symbol) {
  // The future's Result: its value, or its error is the tool's.
  co_return co_await co_await AskForPrice(std::move(symbol));
}

// What the price may lose within so many days, by a walk of many small steps.
ToolTask<Result<double>> Risk(Worker& worker, std::string symbol, int days, CallContext& context) {
  const double price = co_await co_await Price(std::move(symbol));
  co_await ResumeOn([&worker](std::function<void()> work) { worker.Post(std::move(work)); });
  double variance = 0;
  for (int day = 0; day < days && !context.stopped(); ++day) variance += 0.0001;
  co_return 1.645 * std::sqrt(variance) * price;
}

gloveport::Status AddTools(gloveport::ToolRegistry& tools, Worker& worker) {
  const gloveport::ToolOptions awaited{.is_async = true};  // in the cell: `await price(...)`
  RETURN_IF_ERROR(tools.Add("price", "Price of a metal per tonne in USD", &Price, {Arg("symbol")}, awaited));
  return tools.Add(
      "risk", "What a tonne may lose within so many days, in USD",
      [&worker](std::string symbol, int days, CallContext& context) {
        return Risk(worker, std::move(symbol), days, context);
      },
      {Arg("symbol"), Arg("days", "", 10)}, awaited);
}

constexpr const char* kCell = R"(
import asyncio
prices = await asyncio.gather(price("copper"), price("tin"), risk("zinc"))
try:
    await price("mithril")
except ToolError as error:
    print("no price:", error)
[round(value, 2) for value in prices]
)";

}  // namespace

int main() {
  Worker worker;  // outlives the sessions whose tools use it
  const auto tools = std::make_shared<gloveport::ToolRegistry>();
  const auto added = AddTools(*tools, worker);
  const auto fail = [](const gloveport::Error& error) {
    std::fprintf(stderr, "async_tools: %s\n", error.message.c_str());
    return error.code == ErrorCode::kConfinementUnavailable ? 77 : 1;
  };
  if (!added) return fail(added.error());
  const auto runtime = gloveport::Runtime::Create();
  if (!runtime) return fail(runtime.error());
  const auto session = (*runtime)->Open({.policy = *gloveport::PresetPolicy("default"), .tools = tools});
  if (!session) return fail(session.error());
  const auto result = (*session)->Run(kCell);
  if (!result) return fail(result.error());
  if (result->error) std::fprintf(stderr, "async_tools: %s\n", result->error->message.c_str());
  std::printf("%s%s\n", result->out.c_str(), result->repr.c_str());
  return result->repr == "[9100.5, 32000.0, 143.05]" ? 0 : 1;
}
