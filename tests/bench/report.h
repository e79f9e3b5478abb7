// Report: results.json and the table.
#ifndef GLOVEPORT_TESTS_BENCH_REPORT_H_
#define GLOVEPORT_TESTS_BENCH_REPORT_H_

#include <string>

#include "gloveport/tests/bench/measurement.h"

namespace gloveport::bench {

// {"machine": {...}, "results": [...]}; what was not measured has the value null.
std::string ReportJson(const Measurements& measurements);

// A Markdown table with the machine above it and the notes below.
std::string ReportTable(const Measurements& measurements);

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_REPORT_H_
