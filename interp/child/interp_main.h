// What gloveport-interp does, whatever process it runs in: see preload_entry.cc and main.cc.
#ifndef GLOVEPORT_INTERP_CHILD_INTERP_MAIN_H_
#define GLOVEPORT_INTERP_CHILD_INTERP_MAIN_H_

namespace gloveport::child {

// Becomes a template, and in its forks a session or an inspector. Never returns.
[[noreturn]] void InterpMain();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_INTERP_MAIN_H_
