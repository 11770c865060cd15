// A model on its way into the store, for pictures of another size.
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "engine/vit_positions.h"
#include "platform/file.h"
#include "tools/convert/candidate.h"
#include "tools/convert/vit_read.h"
#include "tools/convert/vit_write.h"

namespace engram {

Status resize_candidate(Candidate& candidate, int side, const std::string& file,
                        const ScratchFolder& folder) {
  ModelCard& card = candidate.card;
  PreprocessSpec& how = card.preprocess;
  ENGRAM_ASSIGN(const MappedFile mapped, MappedFile::open(candidate.path));
  ENGRAM_ASSIGN(VitModel read, read_vit(mapped.bytes(), file, card.output, how.crop));
  ENGRAM_ASSIGN(const VitModel model, resize_vit(std::move(read), side));
  const std::string onnx = vit_onnx(model, nullptr);
  candidate.path = folder.path() + "/resized.onnx";
  ENGRAM_TRY(replace_file(candidate.path, std::as_bytes(std::span(onnx))));
  how.resize = int(std::lround(double(how.resize) * side / how.crop));  // the same part is cut off
  card.source += fmt::format(", for pictures of {} pixels instead of {}", side, how.crop);
  how.crop = side;
  card.output = kVitFeatures;
  return {};
}

}  // namespace engram
