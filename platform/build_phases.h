// How far a build is, from the phases that TensorRT reports: each has a number of steps, and may lie
// within a step of another one.
#pragma once

#include <map>
#include <string>

namespace engram {

class BuildPhases {
 public:
  void start(const std::string& phase, const std::string& parent, int steps);  // "": no parent
  void step(const std::string& phase, int index);                              // from 0; it is done
  void finish(const std::string& phase);
  // 0..1, and never smaller than before. TensorRT has one outermost phase; should others come behind
  // it, they share the last hundredth.
  double fraction();

 private:
  struct Phase {
    std::string parent;
    int steps = 1;
    double done = 0;  // of its steps
  };
  double inside(const std::string& name, const Phase& phase) const;

  std::map<std::string, Phase> open_;
  double before_ = 0, left_ = 1;  // by outermost phases that have ended
  double shown_ = 0;
};

}  // namespace engram
