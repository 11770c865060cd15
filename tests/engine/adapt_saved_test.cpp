#include <limits>

#include <fmt/format.h>

#include "engine/adapt_training.h"
#include "engine/byte_io.h"
#include "kernels/kernels.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_task.h"

namespace engram {
namespace {

struct Saved {
  Saved() {
    settings.epochs = 3;
    settings.batch = 8;
    AdaptTraining training = begin(model, settings, data);
    REQUIRE(training.epoch().ok());
    training.save(bytes);
  }
  static AdaptTraining begin(const VitModel& model, const AdaptSettings& settings,
                             const AdaptData& data) {
    return AdaptTraining::create(model, settings, data, 1 << 30, kCpuKernels).value();
  }

  VitModel model = test::small_vit(test::VitKind::plain);
  AdaptData data = test::small_task(model.shape, 4, 24, 4);
  AdaptSettings settings = test::small_settings(AdaptMethod::adaptformer);
  std::string bytes;
};

// Refused with these words, and nothing has changed.
void check_refused(AdaptTraining training, const std::string& bytes, Code code,
                   const std::string& words) {
  const auto before = training.parameters().values;
  const Status status = training.restore(bytes);
  CHECK(status.code() == code);
  CHECK(test::says(status, words));
  CHECK(training.parameters().values == before);
  CHECK(training.epochs_done() == 0);
}

}  // namespace

TEST_CASE("adapt saved: another model, data or settings are refused", "[engine][adapt]") {
  const Saved saved;
  const auto wrong = Code::invalid_argument;
  const VitModel other = test::small_vit(test::VitKind::plain, 3, 2);
  check_refused(Saved::begin(other, saved.settings, saved.data), saved.bytes, wrong,
                "another model");
  AdaptData less = saved.data;
  less.held_out.pop_back();
  check_refused(Saved::begin(saved.model, saved.settings, less), saved.bytes, wrong,
                "other pictures");
  AdaptSettings settings = saved.settings;
  settings.learning_rate = 0.5;
  check_refused(Saved::begin(saved.model, settings, saved.data), saved.bytes, wrong,
                "another learning rate: 0.01, and here 0.5");
  settings = saved.settings;
  settings.head_start = HeadStart::means;
  check_refused(Saved::begin(saved.model, settings, saved.data), saved.bytes, wrong,
                "a head that began at random, and here at means");
  settings = saved.settings;
  settings.seed = (1ull << 60) + 1;
  check_refused(Saved::begin(saved.model, settings, saved.data), saved.bytes, wrong,
                "another seed");
  settings = saved.settings;
  settings.method = AdaptMethod::vpt;
  check_refused(Saved::begin(saved.model, settings, saved.data), saved.bytes, wrong,
                "the method adaptformer");
}

TEST_CASE("adapt saved: settings can be read, with the micro-batch", "[engine][adapt]") {
  const Saved saved;
  const AdaptSettings settings = saved_adapt_settings(saved.bytes).value();
  CHECK(settings.method == AdaptMethod::adaptformer);
  CHECK(settings.epochs == 3);
  CHECK(settings.micro_batch == 8);
  CHECK(settings.recomputed_blocks == 0);
  AdaptTraining training = Saved::begin(saved.model, settings, saved.data);
  CHECK(training.restore(saved.bytes).ok());
  CHECK(training.epochs_done() == 1);
}

TEST_CASE("adapt saved: damage is found, wherever it is", "[engine][adapt]") {
  const Saved saved;
  const auto fresh = [&] { return Saved::begin(saved.model, saved.settings, saved.data); };
  for (std::size_t at = 0; at < saved.bytes.size(); at += at < 300 ? 1 : 997) {
    std::string bytes = saved.bytes;
    bytes[at] = char(bytes[at] ^ 16);
    AdaptTraining training = fresh();
    CHECK_FALSE(training.restore(bytes).ok());
    CHECK(training.epochs_done() == 0);
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{8}, std::size_t{100}, saved.bytes.size() - 1}) {
    check_refused(fresh(), saved.bytes.substr(0, size), Code::bad_data, "damaged");
  }
  for (const char version : {1, 3}) {
    std::string other = saved.bytes;
    other[8] = version;
    check_refused(fresh(), other, Code::not_supported, fmt::format("format {}", int(version)));
  }
  // A size that lies, under a checksum that fits.
  std::string lying = saved.bytes.substr(0, saved.bytes.size() - 8 - 4);
  const std::uint64_t sum = checksum64(as_bytes(lying));
  lying.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  check_refused(fresh(), lying, Code::bad_data, "sizes do not fit");
}

TEST_CASE("adapt: settings and data that make no sense are refused", "[engine][adapt]") {
  const Saved saved;
  const auto refused = [&](const AdaptSettings& settings, const AdaptData& data,
                           const char* words) {
    const Status status =
        AdaptTraining::create(saved.model, settings, data, 1 << 30, kCpuKernels).status();
    CHECK(status.code() == Code::invalid_argument);
    CHECK(test::says(status, words));
  };
  AdaptData data = saved.data;
  data.classes = 1;
  refused(saved.settings, data, "has 1 class, and it takes two");
  data.classes = 3;
  refused(saved.settings, data, "a picture is of class 3, and there are 3");
  data = saved.data;
  data.held_out = {24};
  refused(saved.settings, data, "picture 24 is to be held out");
  data.held_out.clear();
  for (int i = 1; i < 24; ++i) data.held_out.push_back(i);
  refused(saved.settings, data, "less than two classes");
  AdaptSettings settings = saved.settings;
  settings.dropout = 1;
  refused(settings, saved.data, "the dropout is 1; it must be at least 0 and below 1");
  settings = saved.settings;
  settings.learning_rate = std::numeric_limits<double>::quiet_NaN();
  refused(settings, saved.data, "the learning rate is nan");
  settings = saved.settings;
  settings.batch = 0;
  refused(settings, saved.data, "the batch is 0");
  settings = saved.settings;
  settings.recomputed_blocks = 2;
  refused(settings, saved.data, "from -1 to 1");
  CHECK(parse_adapt_method("ssf").value() == AdaptMethod::ssf);
  CHECK(test::says(parse_adapt_method("lora").status(), "adaptformer, ssf, vpt"));
}

}  // namespace engram
