// OpenVINO on the CPU behind platform/backbone.h.
//
// f32 inference and no denormal or bf16 shortcuts: features should be the same on every CPU to the
// last few bits, so that quantising them gives the same bytes.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openvino/openvino.hpp>

#include "platform/backbone.h"
#include "platform/half_rounding_openvino.h"

namespace engram {

namespace {

// Made once and never destroyed: its plug-ins' threads must not outlive it at exit.
ov::Core& core() {
  static ov::Core* const made = new ov::Core;
  return *made;
}

// OpenVINO's messages are several lines, "Exception from file:line" first; people need the last one
// that says something.
std::string in_one_line(const char* what) {
  std::string line, best;
  const auto take = [&] {
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos && line.find("Exception from") == std::string::npos) {
      best = line.substr(first);
    }
    line.clear();
  };
  for (const char* c = what; *c != '\0'; ++c) {
    if (*c == '\n') {
      take();
    } else {
      line += *c;
    }
  }
  take();
  if (best.empty()) best = "no reason given";
  if (best.size() > 300) best = best.substr(0, 300) + "...";
  return best;
}

// OpenVINO passes on some exceptions of its parts, and its own refusals, as a text.
bool tells_of_memory(const std::string& what) {
  const auto has = [&](const char* words) { return what.find(words) != std::string::npos; };
  const bool is_register = has("register");  // "Failed to allocate required number of registers"
  return has("bad_alloc") || has("can't alloc") || (has("Failed to allocate") && !is_register);
}

Status lacks_memory(const std::string& what_failed) {
  return Status(Code::out_of_memory,
                fmt::format("{}: not enough memory. Take smaller batches, a smaller model or "
                            "close other programs.",
                            what_failed));
}

// To be called while an exception is handled: `otherwise` is the code if it is not for want of
// memory.
Status caught(Code otherwise, const std::string& what_failed) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return lacks_memory(what_failed);
  } catch (const std::exception& error) {
    if (tells_of_memory(error.what())) return lacks_memory(what_failed);
    return Status(otherwise, fmt::format("{}: {}", what_failed, in_one_line(error.what())));
  } catch (...) {
    return Status(otherwise, fmt::format("{}: no reason given", what_failed));
  }
}

using Outputs = std::vector<ov::Output<ov::Node>>;

std::string names_of(const Outputs& outputs) {
  std::string list;
  for (const auto& output : outputs) {
    if (!list.empty()) list += ", ";
    list += output.get_names().empty() ? "(unnamed)" : output.get_any_name();
  }
  return list;
}

// The tensor called `name`, an output of the model or any inner one; the only output if `name` is
// empty.
Result<ov::Output<ov::Node>> find_tensor(ov::Model& model, const BackboneOptions& options) {
  const Outputs outputs = model.outputs();
  if (options.output.empty()) {
    if (outputs.size() == 1) return outputs[0].get_node()->input_value(0);
    return Status(Code::bad_data,
                  fmt::format("{} has {} outputs ({}): say which one holds the features (--output)",
                              options.model, outputs.size(), names_of(outputs)));
  }
  for (const auto& operation : model.get_ordered_ops()) {
    if (ov::is_type<ov::op::v0::Result>(operation)) continue;
    for (const auto& output : operation->outputs()) {
      if (output.get_names().count(options.output) != 0) return output;
    }
  }
  return Status(Code::bad_data, fmt::format("{} has no tensor \"{}\". Its outputs: {}",
                                            options.model, options.output, names_of(outputs)));
}

// Inputs that `tensor` depends on. (A CLIP file also has the input of its text half.)
ov::ParameterVector inputs_of(const ov::Output<ov::Node>& tensor) {
  ov::ParameterVector inputs;
  std::set<ov::Node*> seen;
  std::vector<std::shared_ptr<ov::Node>> todo{tensor.get_node_shared_ptr()};
  while (!todo.empty()) {
    const auto node = todo.back();
    todo.pop_back();
    if (!seen.insert(node.get()).second) continue;
    if (auto input = ov::as_type_ptr<ov::op::v0::Parameter>(node)) inputs.push_back(input);
    for (const auto& source : node->input_values()) todo.push_back(source.get_node_shared_ptr());
  }
  return inputs;
}

bool is_float(const ov::element::Type& type) {
  return type == ov::element::f32 || type == ov::element::f16;
}

class OpenVinoBackbone final : public Backbone {
 public:
  static Result<std::unique_ptr<Backbone>> open(const BackboneOptions& options);

  int input_values() const override { return 3 * height_ * width_; }
  int features() const override { return features_; }
  int max_batch() const override { return batch_; }
  Status run(MatrixView<const float> inputs, MatrixView<float> features) override;

 private:
  explicit OpenVinoBackbone(const BackboneOptions& options)
      : model_(options.model),
        height_(options.height),
        width_(options.width),
        batch_(options.batch) {}
  Status prepare(std::shared_ptr<ov::Model>& model, const BackboneOptions& options);
  Status compile(const std::shared_ptr<ov::Model>& model, int threads);
  Status read_output(int count, MatrixView<float> features);

  std::string model_;
  int height_;
  int width_;
  int batch_;
  bool fixed_batch_ = false;  // the model takes exactly batch_ pictures; fewer are filled up
  int features_ = 0;
  ov::CompiledModel compiled_;
  ov::InferRequest request_;
};

// Cuts the model down to one picture input and one output of floats, with its shape settled.
Status OpenVinoBackbone::prepare(std::shared_ptr<ov::Model>& model,
                                 const BackboneOptions& options) {
  ENGRAM_ASSIGN(const ov::Output<ov::Node> tensor, find_tensor(*model, options));
  const ov::ParameterVector inputs = inputs_of(tensor);
  if (inputs.size() != 1) {
    return Status(Code::bad_data,
                  fmt::format("{}: the features depend on {} inputs; a backbone has one, the "
                              "picture",
                              model_, inputs.size()));
  }
  const ov::PartialShape shape = inputs[0]->get_partial_shape();
  if (!is_float(inputs[0]->get_element_type()) || shape.rank().is_dynamic() || shape.size() != 4 ||
      !shape[1].compatible(3)) {
    return Status(
        Code::bad_data,
        fmt::format("{}: its input is {} of the shape {}; a backbone takes float "
                    "pictures of the shape (N, 3, height, width)",
                    model_, inputs[0]->get_element_type().get_type_name(), shape.to_string()));
  }
  if (!shape[2].compatible(height_) || !shape[3].compatible(width_)) {
    return Status(Code::bad_data, fmt::format("{}: its input is {}, not {} x {} pixels", model_,
                                              shape.to_string(), height_, width_));
  }
  // A model with a fixed batch keeps it: asking for another breaks those that have it in the
  // middle, and a wrong result would not be noticed.
  fixed_batch_ = shape[0].is_static();
  if (fixed_batch_) {
    if (shape[0].get_length() < 1 || shape[0].get_length() > 4096) {
      return Status(Code::bad_data,
                    fmt::format("{}: its batch is fixed at {}", model_, shape[0].get_length()));
    }
    batch_ = static_cast<int>(shape[0].get_length());
  }
  model = std::make_shared<ov::Model>(ov::OutputVector{tensor}, inputs);
  const ov::Dimension batch = fixed_batch_ ? ov::Dimension(batch_) : ov::Dimension(1, batch_);
  model->reshape(ov::PartialShape{batch, 3, height_, width_});

  ov::preprocess::PrePostProcessor types(model);  // a half-precision model still speaks floats
  types.input().tensor().set_element_type(ov::element::f32);
  types.output().tensor().set_element_type(ov::element::f32);
  model = types.build();
  if (options.round_halves && round_halves(*model) == 0) {
    return Status(Code::bad_data, fmt::format("{}: it is not in half precision", model_));
  }
  return {};
}

Status OpenVinoBackbone::compile(const std::shared_ptr<ov::Model>& model, int threads) {
  ov::AnyMap settings{ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                      ov::hint::inference_precision(ov::element::f32), ov::num_streams(1),
                      // Two programs on one device must not be pinned to the same core.
                      ov::hint::enable_cpu_pinning(false)};
  if (threads > 0) settings.emplace(ov::inference_num_threads(threads));
  compiled_ = core().compile_model(model, "CPU", settings);
  request_ = compiled_.create_infer_request();
  return {};
}

// The output of `count` pictures into `features`; with no columns asked for, only learns L.
Status OpenVinoBackbone::read_output(int count, MatrixView<float> features) {
  const ov::Tensor output = request_.get_output_tensor();
  const ov::Shape shape = output.get_shape();
  std::size_t longest = 1, total = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    total *= shape[i];
    longest = std::max(longest, shape[i]);
  }
  const std::size_t rows = static_cast<std::size_t>(fixed_batch_ ? batch_ : count);
  if (shape.size() < 2 || shape[0] != rows || total != longest || total == 0 ||
      total > std::size_t{kMaxFeatures}) {
    return Status(Code::bad_data,
                  fmt::format("{}: for {} pictures it gives the shape {}; a backbone gives one "
                              "vector per picture, (N, L). Choose another tensor (--output), or "
                              "how to make one vector of many (--pool cls or --pool mean)",
                              model_, rows, shape.to_string()));
  }
  if (features_ == 0) features_ = static_cast<int>(total);
  if (total != static_cast<std::size_t>(features_)) {
    return Status(Code::bad_data,
                  fmt::format("{}: it gave {} features, now {}", model_, features_, total));
  }
  const float* values = output.data<const float>();
  for (int row = 0; row < features.rows; ++row) {
    std::memcpy(features.row(row), values + total * row, total * sizeof(float));
  }
  return {};
}

Status OpenVinoBackbone::run(MatrixView<const float> inputs, MatrixView<float> features) {
  ENGRAM_CHECK(inputs.cols == input_values() && features.cols == features_ &&
               inputs.rows == features.rows);
  try {
    for (int first = 0; first < inputs.rows; first += batch_) {
      const int count = std::min(batch_, inputs.rows - first);
      ov::Tensor tensor = request_.get_input_tensor();
      if (!fixed_batch_) {
        tensor.set_shape({static_cast<std::size_t>(count), 3, static_cast<std::size_t>(height_),
                          static_cast<std::size_t>(width_)});
      }
      float* values = tensor.data<float>();
      const std::size_t bytes = static_cast<std::size_t>(input_values()) * sizeof(float);
      const int rows = fixed_batch_ ? batch_ : count;
      for (int row = 0; row < rows; ++row) {
        float* target = values + static_cast<std::size_t>(input_values()) * row;
        if (row < count) {
          std::memcpy(target, inputs.row(first + row), bytes);
        } else {
          std::memset(target, 0, bytes);
        }
      }
      request_.infer();
      ENGRAM_TRY(read_output(count, features.row_range(first, count)));
    }
  } catch (...) {
    return caught(Code::internal, fmt::format("{}: inference failed", model_));
  }
  return {};
}

Result<std::unique_ptr<Backbone>> OpenVinoBackbone::open(const BackboneOptions& options) {
  if (options.batch < 1 || options.batch > 4096 || options.height < 1 || options.width < 1 ||
      options.height > 4096 || options.width > 4096 || options.threads < 0) {
    return Status(Code::invalid_argument,
                  fmt::format("a batch of {}, pictures of {} x {} pixels, {} threads: a batch is 1 "
                              "to 4096, a side 1 to 4096 pixels, threads 0 or more",
                              options.batch, options.height, options.width, options.threads));
  }
  try {
    auto backbone = std::unique_ptr<OpenVinoBackbone>(new OpenVinoBackbone(options));
    std::shared_ptr<ov::Model> model = core().read_model(options.model);
    ENGRAM_TRY(backbone->prepare(model, options));
    ENGRAM_TRY(backbone->compile(model, options.threads));
    // One empty picture settles L where the file leaves it open, and takes the memory now.
    const int rows = backbone->fixed_batch_ ? backbone->batch_ : 1;
    ov::Tensor tensor = backbone->request_.get_input_tensor();
    tensor.set_shape({static_cast<std::size_t>(rows), 3, static_cast<std::size_t>(options.height),
                      static_cast<std::size_t>(options.width)});
    std::memset(tensor.data(), 0, tensor.get_byte_size());
    backbone->request_.infer();
    ENGRAM_TRY(backbone->read_output(1, {}));
    return std::unique_ptr<Backbone>(std::move(backbone));
  } catch (...) {
    return caught(Code::bad_data, fmt::format("OpenVINO cannot use {}", options.model));
  }
}

}  // namespace

Result<std::unique_ptr<Backbone>> open_backbone_openvino(const BackboneOptions& options) {
  return OpenVinoBackbone::open(options);
}

}  // namespace engram
