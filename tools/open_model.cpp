#include "tools/open_model.h"

namespace engram {

Result<FeatureExtractor> open_model(const GlobalOptions& options) {
  const ModelStore models(options.home);
  ENGRAM_ASSIGN(const StoredModel model,
                models.find(options.model.empty() ? kDefaultModel : options.model));
  return FeatureExtractor::open(
      model, {.threads = options.threads, .engines = EngineUse::kept, .home = options.home});
}

}  // namespace engram
