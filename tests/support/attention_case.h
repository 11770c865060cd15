// attention and its gradient in double, as kernels/attention.h and attention_back.h define them.
#pragma once

#include <cmath>
#include <vector>

#include "tests/support/random_matrix.h"

namespace engram::test {

struct AttentionShape {
  int pictures, tokens, heads, head;  // head: its width
  float scale = 0.3f;

  int width() const { return heads * head; }
  int rows() const { return pictures * tokens; }
};

// Of one picture and head. Rows of q, k and v are `head` numbers, one after the other.
struct AttentionDefined {
  AttentionDefined(const std::vector<double>& qkv, int count, int width, double factor)
      : tokens(count), head(width), scale(factor), numbers(qkv), p(at(tokens, tokens)) {
    out.assign(at(tokens, head), 0);
    for (int i = 0; i < tokens; ++i) {
      double sum = 0, largest = -1e300;
      for (int j = 0; j < tokens; ++j) largest = std::max(largest, score(i, j));
      for (int j = 0; j < tokens; ++j) sum += std::exp(score(i, j) - largest);
      logsums.push_back(largest + std::log(sum));
      for (int j = 0; j < tokens; ++j) {
        p[at(i, tokens) + std::size_t(j)] = std::exp(score(i, j) - logsums.back());
        for (int c = 0; c < head; ++c)
          out[at(i, head) + std::size_t(c)] += probability(i, j) * v(j)[c];
      }
    }
  }
  static std::size_t at(int row, int cols) { return std::size_t(row) * std::size_t(cols); }
  const double* q(int i) const { return numbers.data() + at(i, head); }
  const double* k(int i) const { return q(tokens + i); }
  const double* v(int i) const { return q(2 * tokens + i); }
  double probability(int i, int j) const { return p[at(i, tokens) + std::size_t(j)]; }
  double dot(const double* a, const double* b) const {
    double sum = 0;
    for (int c = 0; c < head; ++c) sum += a[c] * b[c];
    return sum;
  }
  double score(int i, int j) const { return scale * dot(q(i), k(j)); }

  // Of sum over dout * out, in the order of q, k and v.
  std::vector<double> gradient(const std::vector<double>& dout) const {
    std::vector<double> all(3 * at(tokens, head));
    double *const dq = all.data(), *const dk = dq + at(tokens, head),
                  *const dv = dk + at(tokens, head);
    for (int i = 0; i < tokens; ++i) {
      const double* const d = dout.data() + at(i, head);
      const double inner = dot(d, out.data() + at(i, head));
      for (int j = 0; j < tokens; ++j) {
        const double change = scale * probability(i, j) * (dot(d, v(j)) - inner);
        for (int c = 0; c < head; ++c) {
          dq[at(i, head) + std::size_t(c)] += change * k(j)[c];
          dk[at(j, head) + std::size_t(c)] += change * q(i)[c];
          dv[at(j, head) + std::size_t(c)] += probability(i, j) * d[c];
        }
      }
    }
    return all;
  }

  int tokens, head;
  double scale;
  std::vector<double> numbers, p, out, logsums;
};

// All pictures and heads, with results in float for the way back.
struct AttentionCase {
  explicit AttentionCase(AttentionShape s, float deviation = 1.0f, float (*change)(float) = nullptr)
      : shape(s),
        qkv(random_matrix(s.rows(), 3 * s.width(), 1, 0.0f, deviation)),
        dout(random_matrix(s.rows(), s.width(), 2)),
        out(s.rows(), s.width()),
        logsums(s.pictures * s.heads, s.tokens) {
    for (int r = 0; change != nullptr && r < qkv.rows(); ++r) {
      for (int c = 0; c < qkv.cols(); ++c) qkv(r, c) = change(qkv(r, c));
    }
    for (int b = 0; b < s.pictures; ++b) {
      for (int h = 0; h < s.heads; ++h) {
        const AttentionDefined& one =
            parts.emplace_back(part(qkv, b, h, 3), s.tokens, s.head, s.scale);
        for (int i = 0; i < s.tokens; ++i) {
          logsums(b * s.heads + h, i) = float(one.logsums[std::size_t(i)]);
          for (int c = 0; c < s.head; ++c) {
            out(b * s.tokens + i, h * s.head + c) =
                float(one.out[AttentionDefined::at(i, s.head) + std::size_t(c)]);
          }
        }
      }
    }
  }
  // Of a picture and head, `count` matrices (tokens, head) that lie side by side.
  std::vector<double> part(const GuardedMatrix<float>& from, int b, int h, int count) const {
    std::vector<double> all;
    for (int m = 0; m < count; ++m) {
      for (int i = 0; i < shape.tokens; ++i) {
        for (int c = 0; c < shape.head; ++c) {
          all.push_back(from(b * shape.tokens + i, m * shape.width() + h * shape.head + c));
        }
      }
    }
    return all;
  }

  AttentionShape shape;
  GuardedMatrix<float> qkv, dout, out, logsums;
  std::vector<AttentionDefined> parts;  // [b * heads + h]
};

}  // namespace engram::test
