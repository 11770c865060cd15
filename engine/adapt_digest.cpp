#include "engine/adapt_digest.h"

#include <iterator>
#include <span>

#include "platform/device_staging.h"
#include "platform/hash.h"

namespace engram {
namespace {

class Digest64 {
 public:
  template <class T>
  void add(const T* values, std::size_t count) {
    sum_.add({reinterpret_cast<const std::byte*>(values), count * sizeof(T)});
  }
  template <class Vector>
  void add_all(const Vector& values) {
    const std::uint64_t size = values.size();
    add(&size, 1);
    add(values.data(), values.size());
  }
  void add_linear(const VitLinear& linear) {
    add_all(linear.weight);
    add_all(linear.bias);
  }
  void add_norm(const VitNorm& norm) {
    add_all(norm.weight);
    add_all(norm.bias);
  }
  std::uint64_t value() const { return sum_.value(); }

 private:
  Checksum64 sum_;
};

}  // namespace

std::uint64_t digest_of(const VitModel& model) {
  const DeviceHold hold;
  Digest64 digest;
  const VitShape& s = model.shape;
  const int shape[] = {s.image,  s.patch,  s.width,    s.heads,    s.blocks,
                       s.hidden, s.prefix, s.features, int(s.gelu)};
  digest.add(shape, std::size(shape));
  digest.add(&s.epsilon, 1);
  digest.add_linear(model.patch);
  digest.add_all(model.prefix);
  digest.add_all(model.positions);
  if (model.input_norm) digest.add_norm(*model.input_norm);
  for (const VitBlock& block : model.blocks) {
    digest.add_norm(block.norm1);
    digest.add_linear(block.qkv);
    digest.add_linear(block.proj);
    digest.add_all(block.scale1);
    digest.add_norm(block.norm2);
    digest.add_linear(block.fc1);
    digest.add_linear(block.fc2);
    digest.add_all(block.scale2);
  }
  digest.add_norm(model.norm);
  if (model.projection) digest.add_linear(*model.projection);
  return digest.value();
}

std::uint64_t digest_of(const AdaptData& data) {
  Digest64 digest;
  digest.add(&data.classes, 1);
  digest.add_all(data.labels);
  digest.add_all(data.held_out);
  return digest.value();
}

}  // namespace engram
