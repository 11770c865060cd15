// Features and their labels from files, so that a learner can be measured on anybody's backbone.
//
//   NAME.npz     arrays x (N, L) and y (N); or x_train, y_train, x_test, y_test in one file.
//                Optional: classes (K) text, the name of each y; domain (N) or domain_train,
//                domain_test, numbers or text
//   NAME_x.npy   (N, L), with NAME_y.npy (N) beside it and NAME_classes.txt (line k names class k)
//                where there is one: what `engram features` writes
//
// y is text, or whole numbers: indices into the class names where those are given, else names in
// themselves.
#pragma once

#include <string>
#include <vector>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct FeatureSet {
  std::vector<float> x;  // (rows, width)
  int width = 0;
  std::vector<int> y;                // (rows), into classes
  std::vector<std::string> classes;  // by name or number; some may have no row
  std::vector<int> domain;           // (rows), into domains; empty: nobody says
  std::vector<std::string> domains;  // in the order in which they first come
  std::vector<std::string> paths;    // (rows) of pictures; empty where features came from a file
  int rows() const { return int(y.size()); }
  MatrixView<const float> view() const { return {x.data(), rows(), width, width}; }
};

enum class FeaturePart { train, test };

bool is_feature_file(const std::string& path);  // by its ending
// One part: x and y, else x_train and y_train (x_test and y_test). bad_data, not_found: a sentence
// that names file and array.
Result<FeatureSet> read_feature_file(const std::string& path, FeaturePart part);

}  // namespace engram
