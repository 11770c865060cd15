// Learner::teaching: what leave-one-out over the samples kept says about each class.
#include <new>

#include "engine/learner_impl.h"
#include "engine/teaching.h"
#include "platform/device_staging.h"

namespace engram {

Result<Teaching> Learner::teaching() const {
  const DeviceHold hold;
  const Statistics& statistics = impl_->statistics;
  if (statistics.form() == Form::dense) {
    return Status(Code::not_supported,
                  "No samples are kept in the dense form, so classes cannot be judged by leaving "
                  "samples out.");
  }
  const std::shared_ptr<const Readout> current = readout();
  if (current == nullptr) {
    return Status(Code::not_found, "No task has ended yet: classes are judged from then on.");
  }
  try {
    const KeptSamples& kept = statistics.factored().kept();
    const GramView kernel = statistics.factored().kernel().view();
    const std::vector<std::int64_t> samples = counts_of(statistics.classes().all());
    ENGRAM_ASSIGN(
        const LeftOut left_out,
        LeftOut::create(kernel, kept.classes(), statistics.classes().size(), current->lambda,
                        kTeachingSamples, impl_->blend(), statistics.factored().feature_rows()));
    Teaching teaching;
    teaching.report = judge_teaching(left_out, samples);
    for (const DuplicatePair& pair : find_duplicates(kernel)) {
      const auto first = std::size_t(pair.first), second = std::size_t(pair.second);
      teaching.duplicates.push_back({kept.ids()[first], kept.ids()[second], kept.classes()[first],
                                     kept.classes()[second], pair.similarity});
    }
    return teaching;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "The machine has no memory left to judge what was taught.");
  }
}

}  // namespace engram
