#include "gloveport/tests/bench/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

namespace gloveport::bench {
namespace {

using Json = nlohmann::ordered_json;

// What follows `key` and a colon in the first such line of a file of /proc.
std::string ProcField(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find_first_not_of(" \t:", key.size());
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

Json Machine() {
  utsname system{};
  ::uname(&system);
  double load = 0;
  ::getloadavg(&load, 1);
  const char* commit = std::getenv("GLOVEPORT_BENCH_COMMIT");
  return Json{{"cpu", ProcField("/proc/cpuinfo", "model name")},
              {"cpus", ::sysconf(_SC_NPROCESSORS_ONLN)},
              {"memory_kib", std::atoll(ProcField("/proc/meminfo", "MemTotal").c_str())},
              {"kernel", std::string(system.release)},
              {"arch", std::string(system.machine)},
              {"compiler", "g++ " __VERSION__},
              {"python", GLOVEPORT_BENCH_PYTHON_VERSION},
              {"load_1min", load},
              {"date", fmt::format("{:%Y-%m-%d %H:%M UTC}", fmt::gmtime(std::time(nullptr)))},
              {"commit", commit ? commit : ""}};
}

Json NumberOrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

std::string Short(const std::optional<double>& number) {
  return number ? fmt::format("{:.3g}", *number) : "-";
}

std::string ValueCell(const Measurement& one) {
  if (!one.value) return "-";
  // Large whole numbers stay so.
  std::string text = *one.value >= 1000 ? fmt::format("{:.0f} {}", *one.value, one.unit)
                                        : fmt::format("{:.3g} {}", *one.value, one.unit);
  if (one.samples.values().size() > 2)
    text += fmt::format(" ({:.3g}-{:.3g})", one.samples.Percentile(10), one.samples.Percentile(90));
  return text;
}

std::string MetCell(const Measurement& one) {
  if (!one.value) return "not measured";
  if (one.aim.empty()) return "";
  return one.met ? "yes" : "**no**";
}

}  // namespace

std::string ReportJson(const Measurements& measurements) {
  Json results = Json::array();
  for (const Measurement& one : measurements) {
    results.push_back({{"name", one.name},
                       {"value", NumberOrNull(one.value)},
                       {"unit", one.unit},
                       {"yardstick", {{"name", one.yardstick_name}, {"value", NumberOrNull(one.yardstick)}}},
                       {"ratio", NumberOrNull(one.ratio)},
                       {"aim", one.aim},
                       {"met", one.met},
                       {"mode", ModeName(one.mode)}});
  }
  return Json{{"machine", Machine()}, {"results", results}}.dump(2) + "\n";
}

std::string ReportTable(const Measurements& measurements) {
  const Json machine = Machine();
  std::string text = fmt::format(
      "{}, commit {}: {}, {} CPUs, Linux {}, Python {}, load {:.1f} at the end\n\n"
      "| figure | mode | median (10th-90th) | yardstick | ratio | aim | met "
      "|\n|---|---|---|---|---|---|---|\n",
      machine["date"].get<std::string>(), machine["commit"].get<std::string>(),
      machine["cpu"].get<std::string>(), machine["cpus"].get<long>(), machine["kernel"].get<std::string>(),
      machine["python"].get<std::string>(), machine["load_1min"].get<double>());
  std::string notes;
  for (const Measurement& one : measurements) {
    const std::string yardstick =
        one.yardstick ? fmt::format("{}: {}", one.yardstick_name, Short(one.yardstick)) : one.yardstick_name;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", one.name, ModeName(one.mode),
                        ValueCell(one), yardstick, Short(one.ratio), one.aim, MetCell(one));
    if (!one.note.empty()) notes += fmt::format("- {} ({}): {}\n", one.name, ModeName(one.mode), one.note);
  }
  return text + "\n" + notes;
}

}  // namespace gloveport::bench
