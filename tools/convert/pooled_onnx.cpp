#include "platform/file.h"
#include "tools/convert/candidate.h"
#include "tools/convert/onnx_writer.h"

namespace engram {

namespace {

// Nodes that make one vector of many, to append to the file (see OnnxWriter::finish_as_addition).
std::string pooling_nodes(const std::string& tensor, Pooling pool, std::size_t rank) {
  OnnxWriter nodes("");
  if (pool == Pooling::cls) {  // (N,T,L) -> (N,L)
    const std::int64_t first = 0;
    nodes.whole_numbers("engram_first", {}, {&first, 1});
    nodes.node("Gather", {tensor, "engram_first"}, {kPooledOutput}, {{"axis", std::int64_t{1}}});
  } else {
    std::string channels_first = tensor;  // (N,T,L) -> (N,L,T), or (N,L,H,W) as it is
    if (rank == 3) {
      channels_first = "engram_channels_first";
      nodes.node("Transpose", {tensor}, {channels_first},
                 {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
    }
    nodes.node("GlobalAveragePool", {channels_first}, {"engram_mean"});
    nodes.node("Flatten", {"engram_mean"}, {kPooledOutput}, {{"axis", std::int64_t{1}}});
  }
  nodes.output(kPooledOutput, {OnnxWriter::kBatch, OnnxWriter::kBatch});
  return nodes.finish_as_addition();
}

}  // namespace

Result<std::string> with_pooling(std::span<const std::byte> onnx, const std::string& tensor,
                                 Pooling pool, std::size_t rank, const ScratchFolder& folder) {
  const std::string nodes = pooling_nodes(tensor, pool, rank);
  const auto added = std::as_bytes(std::span(nodes));
  std::vector<std::byte> bytes(onnx.begin(), onnx.end());
  bytes.insert(bytes.end(), added.begin(), added.end());
  const std::string path = folder.path() + "/pooled.onnx";
  ENGRAM_TRY(replace_file(path, bytes));
  return path;
}

}  // namespace engram
