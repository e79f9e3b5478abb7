// PriceTable: what tokens cost. A plain value, from a JSON file that the user can replace:
//
//   {"currency": "USD", "as_of": "2026-10",
//    "models": {"gpt-5": {"input": 1.25, "output": 10, "cached_input": 0.125},
//               "my-model": {"input": 0, "output": 0}}}
//
// Prices are for a million tokens. "cached_input" and "cache_write" are as "input" where they are missing,
// "reasoning" is as "output".
#ifndef GLOVEPORT_CORE_MODEL_PRICE_TABLE_H_
#define GLOVEPORT_CORE_MODEL_PRICE_TABLE_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

struct TokenPrices {
  double input = 0;
  double output = 0;
  double cached_input = 0;
  double cache_write = 0;
  double reasoning = 0;
};

class PriceTable {
 public:
  PriceTable() = default;  // knows no model

  // The list prices of some well-known models, as of the date in as_of(). They change: give a file of your
  // own where money depends on it.
  static const PriceTable& BuiltIn();

  // kInvalidArgument names what is wrong with the text, for the file with its name; unknown members are
  // errors.
  static Result<PriceTable> Parse(std::string_view text);
  static Result<PriceTable> Load(const std::filesystem::path& file);

  // By the name that the server or the user gives a model, also with the kind before it ("openai:gpt-5"), or
  // with a date or
  // "-latest" behind it ("gpt-5-2025-08-07"). Nothing for a model that is not in the table.
  std::optional<TokenPrices> Find(std::string_view model) const;

  // What a reply cost; nothing where the model is not in the table or the server reported no usage: unknown,
  // not free.
  std::optional<double> Cost(std::string_view model, const TokenUsage& usage) const;

  const std::string& currency() const { return currency_; }
  const std::string& as_of() const { return as_of_; }
  bool empty() const { return models_.empty(); }

 private:
  std::string currency_ = "USD";
  std::string as_of_;
  std::map<std::string, TokenPrices, std::less<>> models_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_PRICE_TABLE_H_
