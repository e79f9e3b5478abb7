// Instants as a policy and a record write them: ISO 8601 in UTC.
#ifndef GLOVEPORT_POLICY_INSTANT_H_
#define GLOVEPORT_POLICY_INSTANT_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gloveport {

// "2026-01-31T12:00:00Z", with up to nine decimals of a second: nanoseconds since 1970. Nothing for other
// texts, days that no month has, and years before 1970 or after 2200.
std::optional<std::chrono::nanoseconds> ParseInstant(std::string_view text);

// As many decimals as it takes. `instant` is one that ParseInstant gives.
std::string FormatInstant(std::chrono::nanoseconds instant);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_INSTANT_H_
