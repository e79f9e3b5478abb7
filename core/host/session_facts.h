// SessionFacts for a record: which files the interpreter consists of, and what they hold. The names are what
// the interpreter reports before any cell; the files are read by the host.
#ifndef GLOVEPORT_CORE_HOST_SESSION_FACTS_H_
#define GLOVEPORT_CORE_HOST_SESSION_FACTS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

// Takes `program` (gloveport-interp), what stands beside it, and a session's answer to describe_runtime into
// `facts`. What each file held is read once and remembered as long as size, time and inode stay as they were.
// Thread-safe.
void AddRuntimeFiles(SessionFacts& facts, const std::filesystem::path& program, const Value& described);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_FACTS_H_
