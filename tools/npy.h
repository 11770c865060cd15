// NumPy's .npy files (format 1.0), so that anybody can check our numbers with three lines of
// Python.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

Status write_npy(const std::string& path, MatrixView<const float> matrix);  // <f4, (rows, cols)
Status write_npy(const std::string& path, std::span<const std::int32_t> values);  // <i4, (count,)

}  // namespace engram
