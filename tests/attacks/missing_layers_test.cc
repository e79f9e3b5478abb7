// What becomes of a session on a machine that lacks a layer: the degraded mode where the policy names it, a
// refusal with the remedy everywhere else, and never a session with less than its policy requires.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace gloveport {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Matcher;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kDefault = "";
constexpr const char* kDegraded = "--require seccomp --require landlock";
constexpr const char* kSeccompOnly = "--require seccomp";

std::string Open(std::string_view missing, std::string_view policy) {
  const std::string command =
      fmt::format("{} {} {} {} 2>&1", ATTACK_WITHOUT_LAYER, missing, ATTACK_OPEN_ONCE, policy);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (pipe && ::fgets(buffer.data(), buffer.size(), pipe.get())) text += buffer.data();
  return text;
}

Matcher<std::string> Opens(const std::string& with, const std::string& without = "nothing at all") {
  return AllOf(StartsWith("ok "), HasSubstr(with), Not(HasSubstr(without)), HasSubstr(": 42"));
}
Matcher<std::string> IsRefused(const std::string& remedy) {
  return AllOf(StartsWith("confinement_unavailable : "), HasSubstr(remedy));
}

struct Case {
  const char* missing;
  const char* policy;
  Matcher<std::string> expected;
};

TEST(MissingLayers, DegradeOnlyWhereThePolicySaysSo) {
  const Case cases[] = {
      {"nothing", kDefault, Opens("own_root")},
      {"nothing", kDegraded, Opens("own_root")},
      {"namespaces", kDefault, IsRefused("\"landlock\" instead of \"own_root\"")},
      {"namespaces", kDegraded, Opens("landlock", "own_root")},
      {"user-namespaces", kDefault, IsRefused("max_user_namespaces")},
      {"user-namespaces", kDegraded, Opens("landlock", "own_root")},
      {"mounts", kDefault, IsRefused("apparmor_restrict_unprivileged_userns")},
      {"mounts", kDegraded, Opens("landlock", "own_root")},
      {"landlock", kDefault, Opens("own_root", "landlock")},
      {"landlock", kDegraded, IsRefused("Linux 5.13")},
      {"namespaces,landlock", kDefault, IsRefused("max_user_namespaces")},
      {"namespaces,landlock", kDegraded, IsRefused("Linux 5.13")},
      {"namespaces", kSeccompOnly, StartsWith("invalid_argument : ")},
      {"seccomp", kDefault, IsRefused("CONFIG_SECCOMP_FILTER")},
      {"seccomp", kDegraded, IsRefused("CONFIG_SECCOMP_FILTER")},
      {"namespaces,seccomp", kDegraded, IsRefused("CONFIG_SECCOMP_FILTER")},
      {"mdwe", kDefault, Opens("own_root", "mdwe")},
  };
  for (const Case& one : cases)
    EXPECT_THAT(Open(one.missing, one.policy), one.expected)
        << "without " << one.missing << ", policy " << one.policy;
}

}  // namespace
}  // namespace gloveport
