// How the layers of confinement stand: in one session, and on this machine.
#ifndef GLOVEPORT_CORE_HOST_LAYERS_H_
#define GLOVEPORT_CORE_HOST_LAYERS_H_

#include <vector>

#include "gloveport/core/host/session.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/host/template_pool.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// From what the host applied and what the session's self-check proved.
std::vector<LayerStatus> LayersOf(const TemplateProcess& parent, const SessionProcess& process);

// kConfinementUnavailable, with the remedy in the hint, where a layer that the policy requires is not in
// force.
Status RequireLayers(const Policy& policy, const std::vector<LayerStatus>& layers);

// Tries the layers in throw-away sessions.
std::vector<LayerStatus> ProbeLayersWith(TemplatePool& pool);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_LAYERS_H_
