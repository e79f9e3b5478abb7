// The environment of every process of ours that runs Python: a constant list, nothing of the host's. A
// template is started with it; cleaning up an inherited environment afterwards would leave copies behind.
#ifndef GLOVEPORT_POLICY_ENVIRONMENT_H_
#define GLOVEPORT_POLICY_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

namespace gloveport {

inline constexpr std::string_view kWorkFolder = "/workdir";
// Not /tmp: code that writes to a path that others share elsewhere must fail, and does so with a clear error.
inline constexpr std::string_view kTempFolder = "/scratch";
inline constexpr std::string_view kHostName = "sandbox";

// "NAME=value" entries in a fixed order. With `work_folder` other than kWorkFolder (the degraded mode, where
// the host's paths stay visible) HOME and the temporary folders point into it.
std::vector<std::string> ConstantEnvironment(std::string_view work_folder = kWorkFolder);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_ENVIRONMENT_H_
