// What cells and configurations give the built-in tools as text: expressions, patterns, hosts, annotations.
#include <re2/re2.h>

#include <cmath>
#include <variant>

#include "gloveport/core/net/ip_network.h"
#include "gloveport/tools/builtin/calculator.h"
#include "gloveport/tools/builtin/host_pattern.h"
#include "gloveport/tools/builtin/text_pattern.h"
#include "gloveport/tools/python_stub.h"
#include "gloveport/tools/time_type.h"

#include "fuzz_input.h"

namespace {

using namespace gloveport;

void Compute(std::string_view text) {
  const auto value = Calculate(text);
  if (!value) {
    PROMISE(!value.error().message.empty());
    return;
  }
  // A result is an expression of itself.
  const auto* integer = std::get_if<BigInt>(&*value);
  PROMISE(integer != nullptr || std::isfinite(std::get<double>(*value)));
  if (integer != nullptr && !integer->negative) PROMISE(Calculate(integer->ToDecimal()) == value);
}

void Match(std::string_view text) {
  if (const auto pattern = CompilePattern(text)) (void)re2::RE2::PartialMatch("some text", **pattern);
  if (const auto glob = CompileGlob(text)) (void)re2::RE2::FullMatch("some/path.txt", **glob);
}

void Name(std::string_view text) {
  if (const auto pattern = HostPattern::Parse(text))
    (void)pattern->Matches(*ParseUrl("https://a.example:8443/x"));
  if (const auto network = IpNetwork::Parse(text)) (void)network->Contains(*IpAddress::Parse("10.0.0.1"));
}

void Describe(const std::string& text) {
  ToolSpec spec;
  spec.name = "f";
  spec.returns = text;
  const std::string stub = PythonStub({spec});
  PROMISE(stub.find("def final_answer(") != std::string::npos);
}

void ReadTime(const std::string& text) {
  using Time = std::chrono::sys_time<std::chrono::microseconds>;
  const auto time = ToolType<Time>::FromValue(Value(Form::kDatetime, text), ValuePlace("t"));
  if (time) PROMISE(ToolType<Time>::FromValue(ToolType<Time>::ToValue(*time), ValuePlace("t")) == time);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(TextOf(data, size));
  if (text.empty()) return 0;
  const std::string rest = text.substr(1);
  switch (text[0]) {
    case 'c':
      Compute(rest);
      break;
    case 'm':
      Match(rest);
      break;
    case 'n':
      Name(rest);
      break;
    case 'd':
      Describe(rest);
      break;
    case 't':
      ReadTime(rest);
      break;
    default:
      break;
  }
  return 0;
}
