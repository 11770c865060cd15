// The camera app while a GPU's engine is built: the real child process, with a double of the GPU's library.
#include "tests/support/fake_engine_library.h"
#include "tests/support/live_desk.h"
#include "tests/support/says.h"
#include "tests/support/small_model.h"
#include "tools/engine_words.h"
#include "tools/live/service_pulse.h"

namespace engram {
namespace {

using Kind = EngineState::Kind;

// The camera app with a backbone in a file, which OpenVINO runs until the engine is there.
struct Desk : test::LiveDesk {
  explicit Desk(const std::string& library_name) : library(library_name) {
    const EngineRequest small = test::small_request(folder);
    StoredModel model;
    model.onnx = small.model;
    model.card = colours();
    model.card.output = small.output;
    model.card.features = library.features = 3;
    model.card.preprocess.resize = model.card.preprocess.crop = small.height;
    model.card.preprocess.mean = {0, 0, 0};
    model.card.preprocess.std = {1, 1, 1};
    scene->show({100, 100, 100});  // a tenth of it are the features, by the CPU and by the GPU
    library.value = 10;
    auto extractor = FeatureExtractor::open(model, {.threads = 1,
                                                    .batch = 1,
                                                    .engines = EngineUse::build,
                                                    .home = folder / "home",
                                                    .library = &library});
    LearnerConfig config;
    config.hidden = 200;
    auto store = Store::create(state(), config_for(model.card, config), files);
    live = Live::start(options(), {std::move(extractor).value(), std::move(store).value()}).value();
  }
  bool gets(Kind kind) const {
    return test::eventually([&] { return live->state().engine.kind == kind; });
  }
  bool told(const std::string& words) const {
    for (const LiveEvent& event : live->state().events) {
      if (event.kind == "engine" && test::says(event.text, words)) return true;
    }
    return false;
  }

  test::FakeEngineLibrary library;
  std::unique_ptr<Live> live;
};

}  // namespace

TEST_CASE("the CPU answers and teaches while the engine is built, and it is told how far that is",
          "[tools][live][openvino][child]") {
  const Desk desk("fake:slow");  // gets half way, and stays there
  REQUIRE(test::eventually([&] { return desk.live->state().engine.fraction == 0.5; }));
  const EngineState engine = desk.live->state().engine;
  CHECK(engine.kind == Kind::building);
  CHECK(engine.seconds_left >= 0);
  CHECK(engine.device == "Fake GPU, compute 8.7, Fake 1.0");
  CHECK(desk.told("building the engine for Fake GPU"));
  const ServicePulse pulse = service_pulse(*desk.live);
  CHECK(test::says(pulse.status, "building the GPU's engine: 50 %, "));
  CHECK(coming_engine(pulse.status)->fraction == 0.5);

  REQUIRE(test::eventually([&] { return service_pulse(*desk.live).answers; }));
  CHECK(desk.live->carry_out(test::learn("mug")).status.ok());
  CHECK(desk.live->state().engine.kind == Kind::building);
}

TEST_CASE("an engine that comes to nothing is told, and the CPU goes on",
          "[tools][live][openvino][child]") {
  const Desk desk("fake:crash");
  REQUIRE(desk.gets(Kind::given_up));
  CHECK(desk.told("crashed"));
  CHECK(test::says(service_pulse(*desk.live).status, "without the GPU: "));
  const auto seen = desk.live->sight();
  const std::uint64_t after = seen ? seen->frame.number : 0;
  REQUIRE(test::see(*desk.live, [&](const Sight& sight) {
            return sight.frame.number > after && !sight.features.empty();
          }) != nullptr);
}

TEST_CASE("the GPU answers as soon as its engine is built", "[tools][live][openvino][child]") {
  const Desk desk("fake");
  REQUIRE(desk.gets(Kind::answers));
  CHECK(desk.told("the GPU answers (Fake GPU"));
  CHECK(test::says(service_pulse(*desk.live).status, "; the GPU answers"));
}

}  // namespace engram
