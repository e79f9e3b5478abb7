// EventLog: tells the host what the interpreter saw while a cell runs: files that were opened, modules
// that the cell imported, attempts that were refused. Each thing once a cell and no more than a few hundred
// in all, so that neither a busy nor a hostile cell floods the channel; what is left out is counted and
// reported at the cell's end.
//
// Needs the GIL, and makes no call into Python.
#ifndef GLOVEPORT_INTERP_CHILD_EVENT_LOG_H_
#define GLOVEPORT_INTERP_CHILD_EVENT_LOG_H_

#include <string>

namespace gloveport::child {

class EventLog {
 public:
  EventLog() = delete;

  static void BeginCell();
  struct Open {
    std::string path;
    bool write = false;
    bool create = false;
    bool allowed = true;  // it seems to be there and to be open to the cell
    friend auto operator<=>(const Open&, const Open&) = default;
  };
  // Event "open" {path, write, create, allowed}.
  static void Opened(Open open);
  // Event "import" {module, allowed}.
  static void Imported(const std::string& module, bool allowed);
  // Event "refused" {rule, what, message}.
  static void Refused(const std::string& rule, const std::string& what, const std::string& message);
  // Event "open" {more}, "import" {more} or "refused" {more} where something was left out.
  static void EndCell();
};

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_EVENT_LOG_H_
