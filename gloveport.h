// Gloveport for a program that embeds it: one header for what most of them use.
//
//   auto runtime = gloveport::Runtime::Create();
//   auto session = (*runtime)->Open({.policy = ..., .tools = registry});
//   auto result = (*session)->Run("1 + 1");
//
// See examples/ and README.md. Each header included here says who owns what, what may be called from which
// thread, and how each function fails.
#ifndef GLOVEPORT_GLOVEPORT_H_
#define GLOVEPORT_GLOVEPORT_H_

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/session.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/presets.h"
#include "gloveport/tools/convert.h"
#include "gloveport/tools/registry.h"

#endif  // GLOVEPORT_GLOVEPORT_H_
