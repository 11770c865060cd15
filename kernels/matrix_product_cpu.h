// Products of float matrices on our threads: what operations that are plain linear algebra are made
// of on the CPU.
//
// Each piece of a product is one call of OpenBLAS in one thread of ours (platform/threads.h says
// why). The pieces follow from the shapes alone, and so the bits of a result do not depend on the
// number of threads.
#pragma once

#include "platform/matrix_factor.h"

namespace engram::cpu {

// c = alpha a b + beta c, shapes (m,k) (k,n) (m,n). With beta 0 what c held does not matter.
void multiply(float alpha, MatrixFactor a, MatrixFactor b, float beta, MatrixView<float> c);

// c += alpha aT a, of the square c (a.cols, a.cols) the named triangle with its diagonal; the rest is
// neither read nor written.
void add_gram_lower(float alpha, MatrixView<const float> a, MatrixView<float> c);
void add_gram_upper(float alpha, MatrixView<const float> a, MatrixView<float> c);

}  // namespace engram::cpu
