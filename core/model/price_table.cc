#include "gloveport/core/model/price_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxTableBytes = 4u << 20;
constexpr double kTokensPerPrice = 1e6;

// Models whose price depends on more than the tokens (the length of the prompt, the hour) are left out.
constexpr std::string_view kBuiltIn = R"({
  "currency": "USD", "as_of": "2026-10",
  "models": {
    "gpt-5.5": {"input": 5, "cached_input": 0.5, "output": 30},
    "gpt-5.2": {"input": 1.75, "cached_input": 0.175, "output": 14},
    "gpt-5.1": {"input": 1.25, "cached_input": 0.125, "output": 10},
    "gpt-5": {"input": 1.25, "cached_input": 0.125, "output": 10},
    "gpt-5-mini": {"input": 0.25, "cached_input": 0.025, "output": 2},
    "gpt-5-nano": {"input": 0.05, "cached_input": 0.005, "output": 0.4},
    "gpt-4.1": {"input": 2, "cached_input": 0.5, "output": 8},
    "gpt-4.1-mini": {"input": 0.4, "cached_input": 0.1, "output": 1.6},
    "gpt-4o": {"input": 2.5, "cached_input": 1.25, "output": 10},
    "claude-opus-5-5": {"input": 4, "cached_input": 0.2, "cache_write": 5, "output": 20},
    "claude-opus-5": {"input": 5, "cached_input": 0.5, "cache_write": 6.25, "output": 25},
    "claude-opus-4-5": {"input": 5, "cached_input": 0.5, "cache_write": 6.25, "output": 25},
    "claude-opus-4-1": {"input": 15, "cached_input": 1.5, "cache_write": 18.75, "output": 75},
    "claude-sonnet-5": {"input": 2, "cached_input": 0.2, "cache_write": 2.5, "output": 10},
    "claude-sonnet-4-5": {"input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15},
    "claude-haiku-4-5": {"input": 1, "cached_input": 0.1, "cache_write": 1.25, "output": 5}
  }
})";

tl::unexpected<Error> Wrong(std::string what) {
  return Fail(
      ErrorCode::kInvalidArgument, std::move(what),
      "a price table is {\"currency\": \"USD\", \"as_of\": \"...\", \"models\": {\"NAME\": {\"input\": 1.25, "
      "\"output\": 10}}}, for a million tokens");
}

struct Field {
  const char* name;
  double TokenPrices::*price;
  const char* fallback;  // the member that counts where this one is missing; nullptr: it must be there
};
constexpr std::array kFields = {Field{"input", &TokenPrices::input, nullptr},
                                Field{"output", &TokenPrices::output, nullptr},
                                Field{"cached_input", &TokenPrices::cached_input, "input"},
                                Field{"cache_write", &TokenPrices::cache_write, "input"},
                                Field{"reasoning", &TokenPrices::reasoning, "output"}};

Result<TokenPrices> ReadPrices(const std::string& model, const Json& json) {
  const auto wrong = [&](std::string what) {
    return Wrong(fmt::format("\"{}\": {}", EscapeForTerminal(model), what));
  };
  if (!json.is_object()) return wrong("there is no object with its prices");
  for (const auto& [key, value] : json.items()) {
    const std::string& name = key;
    const bool known =
        std::any_of(kFields.begin(), kFields.end(), [&](const Field& field) { return name == field.name; });
    if (!known) return wrong(fmt::format("unknown member \"{}\"", EscapeForTerminal(name)));
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
      return wrong(fmt::format("\"{}\" is no number from 0 on", name));
    }
  }
  TokenPrices prices;
  for (const Field& field : kFields) {
    const char* source = json.contains(field.name) ? field.name : field.fallback;
    if (source == nullptr) return wrong(fmt::format("\"{}\" is missing", field.name));
    prices.*field.price = json[source].get<double>();
  }
  return prices;
}

std::string_view WithoutKind(std::string_view model) {
  for (const std::string_view kind : {"openai:", "openai-responses:", "anthropic:"}) {
    if (model.starts_with(kind)) return model.substr(kind.size());
  }
  return model;
}

// "-2025-08-07", "-20250807", "@20250807", "-latest": another edition of the same model, not another model
// ("-mini").
bool IsEdition(std::string_view rest) {
  if (rest == "-latest") return true;
  if (rest.empty() || (rest.front() != '-' && rest.front() != '@')) return false;
  rest.remove_prefix(1);
  const std::string_view pattern = rest.size() == 8 ? "dddddddd" : "dddd-dd-dd";
  return std::equal(rest.begin(), rest.end(), pattern.begin(), pattern.end(),
                    [](char c, char kind) { return kind == 'd' ? c >= '0' && c <= '9' : c == kind; });
}

}  // namespace

const PriceTable& PriceTable::BuiltIn() {
  static const PriceTable table = Parse(kBuiltIn).value_or(PriceTable());
  return table;
}

Result<PriceTable> PriceTable::Parse(std::string_view text) {
  const auto json = ParseJson(text, {.max_bytes = kMaxTableBytes, .max_depth = 8, .allow_comments = true});
  if (!json) return Wrong(json.error().message);
  const Json* models = Member(*json, "models");
  if (!models || !models->is_object()) return Wrong("there is no object \"models\"");
  PriceTable table;
  for (const auto& [key, value] : json->items()) {
    if (key == "models") continue;
    if (key != "currency" && key != "as_of")
      return Wrong(fmt::format("unknown member \"{}\"", EscapeForTerminal(key)));
    if (!value.is_string()) return Wrong(fmt::format("\"{}\" is no text", key));
  }
  if (json->contains("currency")) table.currency_ = TextOf(*json, "currency");
  table.as_of_ = TextOf(*json, "as_of");
  for (const auto& [name, prices] : models->items()) {
    ASSIGN_OR_RETURN(table.models_[name], ReadPrices(name, prices));
  }
  return table;
}

Result<PriceTable> PriceTable::Load(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxTableBytes));
  auto table = Parse(text);
  if (table) return table;
  return Fail(table.error().code, fmt::format("{}: {}", file.string(), table.error().message),
              table.error().hint);
}

std::optional<TokenPrices> PriceTable::Find(std::string_view model) const {
  model = WithoutKind(model);
  if (const auto exact = models_.find(model); exact != models_.end()) return exact->second;
  for (const auto& [name, prices] : models_) {
    if (model.starts_with(name) && IsEdition(model.substr(name.size()))) return prices;
  }
  return std::nullopt;
}

std::optional<double> PriceTable::Cost(std::string_view model, const TokenUsage& usage) const {
  if (!usage.reported) return std::nullopt;
  const auto prices = Find(model);
  if (!prices) return std::nullopt;
  const auto tokens = [](std::int64_t count) {
    return static_cast<double>(std::max<std::int64_t>(count, 0));
  };
  const double cached = tokens(usage.cached_input_tokens) * prices->cached_input +
                        tokens(usage.cache_write_tokens) * prices->cache_write;
  const double fresh =
      tokens(usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens) * prices->input;
  const double written = tokens(usage.output_tokens - usage.reasoning_tokens) * prices->output +
                         tokens(usage.reasoning_tokens) * prices->reasoning;
  return (cached + fresh + written) / kTokensPerPrice;
}

}  // namespace gloveport
