// Two files that the program carries: toolchains/engram.service.in and toolchains/camera.conf.
#pragma once

#include <string>

namespace engram {

// The unit that runs `program` (an absolute path).
std::string service_unit_text(const std::string& program);
// Every setting of `engram camera`, explained, each as a comment.
std::string service_config_text();

}  // namespace engram
