#include "tools/features/feature_file.h"

#include <cmath>
#include <fstream>

#include "tests/support/archive_files.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tools/features/class_targets.h"
#include "tools/features/npz.h"

namespace engram {
namespace {

using test::floats;
using test::npy;

struct Folder {
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(directory / name, std::ios::binary) << content;
    return directory / name;
  }
  test::TempDirectory directory;
};

const std::string kThree = npy("<f4", "(3, 2)", floats({1, 2, 3, 4, 5, 6}));
std::string numbers(const std::string& bytes) {
  return npy("|i1", "(" + std::to_string(bytes.size()) + ",)", bytes);
}

}  // namespace

TEST_CASE("feature file: one npz for both parts, stored and deflated", "[tools][features]") {
  const Folder folder;
  for (const bool deflated : {false, true}) {
    const std::string path = folder.write(
        "f.npz", test::zip_archive({{"x_train.npy", kThree, deflated},
                                    {"y_train.npy", numbers("\x0a\x02\x0a"), deflated},
                                    {"x_test.npy", npy("<f4", "(1, 2)", floats({7, 8})), deflated},
                                    {"y_test.npy", numbers("\x02"), deflated},
                                    {"domain_train.npy", npy("|S1", "(3,)", "bab"), deflated}}));
    REQUIRE(is_feature_file(path));
    const FeatureSet train = read_feature_file(path, FeaturePart::train).value();
    CHECK(train.width == 2);
    CHECK(train.x == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(train.classes == std::vector<std::string>{"2", "10"});  // by value, not by letter
    CHECK(train.y == std::vector<int>{1, 0, 1});
    CHECK(train.domains == std::vector<std::string>{"b", "a"});  // as they first come
    CHECK(train.domain == std::vector<int>{0, 1, 0});
    const FeatureSet test = read_feature_file(path, FeaturePart::test).value();
    CHECK(test.rows() == 1);
    CHECK(test.domain.empty());
  }
}

TEST_CASE("feature file: labels as text, and numbers with names", "[tools][features]") {
  const Folder folder;
  const FeatureSet text =
      read_feature_file(
          folder.write("t.npz", test::zip_archive({{"x.npy", kThree},
                                                   {"y.npy", npy("|S3", "(3,)", "mugcupmug")}})),
          FeaturePart::test)
          .value();
  CHECK(text.classes == std::vector<std::string>{"cup", "mug"});
  CHECK(text.y == std::vector<int>{1, 0, 1});
  const std::string names = npy("|S3", "(2,)", "mugcup");
  const auto named = [&](const std::string& y) {
    return read_feature_file(
        folder.write("n.npz",
                     test::zip_archive({{"x.npy", kThree}, {"y.npy", y}, {"classes.npy", names}})),
        FeaturePart::train);
  };
  CHECK(named(numbers(std::string("\0\1\0", 3))).value().classes ==
        std::vector<std::string>{"mug", "cup"});
  CHECK(test::says(named(numbers(std::string("\0\2\0", 3))).status(), "label 2 has no name"));
}

TEST_CASE("feature file: npy files as `engram features` writes them", "[tools][features]") {
  const Folder folder;
  const std::string path = folder.write("f_x.npy", kThree);
  CHECK(read_feature_file(path, FeaturePart::train).status().code() == Code::not_found);
  folder.write("f_y.npy", numbers(std::string("\1\0\1", 3)));
  CHECK(read_feature_file(path, FeaturePart::train).value().classes ==
        std::vector<std::string>{"0", "1"});
  folder.write("f_classes.txt", "red mug\nblue mug\n");
  const FeatureSet set = read_feature_file(path, FeaturePart::train).value();
  CHECK(set.classes == std::vector<std::string>{"red mug", "blue mug"});
  CHECK(set.y == std::vector<int>{1, 0, 1});
  CHECK(test::says(read_feature_file(folder.write("g.npy", kThree), FeaturePart::train).status(),
                   "NAME_y.npy"));
}

TEST_CASE("feature file: what cannot be used is refused with a sentence", "[tools][features]") {
  const Folder folder;
  const auto refused = [&](const std::vector<test::ZipMember>& members) {
    return read_feature_file(folder.write("f.npz", test::zip_archive(members)), FeaturePart::train)
        .status();
  };
  const std::string y = numbers("\1\1\1");
  CHECK(test::says(refused({{"features.npy", kThree}}), "it has: features"));
  CHECK(test::says(refused({{"x.npy", kThree}}), "no array \"y\""));
  CHECK(
      test::says(refused({{"x.npy", npy("<f4", "(6,)", floats({1, 2, 3, 4, 5, 6}))}, {"y.npy", y}}),
                 "features are (rows, L)"));
  CHECK(test::says(refused({{"x.npy", kThree}, {"y.npy", numbers("\1\1")}}), "3 rows"));
  CHECK(test::says(
      refused({{"x.npy", npy("<f4", "(1, 1)", floats({std::nanf("")}))}, {"y.npy", numbers("\1")}}),
      "NaN"));
  CHECK(test::says(refused({{"x.npy", kThree}, {"y.npy", npy("|O", "(3,)", "...")}}), "pickled"));
  CHECK(test::says(refused({{"x.npy", kThree}, {"y.npy", npy("|S1", "(3,)", "a\nb")}}),
                   "control character"));
  CHECK(test::says(refused({{"x.npy", kThree}, {"y.npy", npy("<f4", "(3,)", floats({1, 2, .5f}))}}),
                   "whole number"));
  CHECK(test::says(refused({{"x.npy", kThree},
                            {"y.npy", numbers(std::string("\0\1\0", 3))},
                            {"classes.npy", npy("|S1", "(2,)", "aa")}}),
                   "two classes"));
  CHECK(test::says(refused({{"x.npy", kThree}, {"y.npy", y}, {"domain.npy", numbers("\1")}}),
                   "3 rows"));
  const std::string whole = test::zip_archive({{"x.npy", kThree, true}, {"y.npy", y, true}});
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    CHECK_FALSE(
        read_feature_file(folder.write("c.npz", whole.substr(0, cut)), FeaturePart::train).ok());
  }
  CHECK(test::says(read_feature_file(folder.write("t.npz", "text"), FeaturePart::train).status(),
                   "no .npz"));
}

TEST_CASE("class targets: by name, or by number", "[tools][features]") {
  const Folder folder;
  const auto targets = [&](const std::string& embeddings, const std::string& names,
                           const std::vector<std::string>& classes) {
    return read_class_targets(
        folder.write("t.npz",
                     test::zip_archive({{"embeddings.npy", embeddings}, {"names.npy", names}})),
        classes);
  };
  const std::string names = npy("|S1", "(3,)", "abc");
  CHECK(targets(kThree, names, {"c", "a"}).value().values == std::vector<float>{5, 6, 1, 2});
  CHECK(targets(kThree, names, {"1"}).value().values == std::vector<float>{3, 4});
  CHECK(test::says(targets(kThree, names, {"d"}).status(), "\"d\" has no target"));
  CHECK(test::says(targets(kThree, npy("|S1", "(2,)", "ab"), {"a"}).status(), "2 names"));
  CHECK(test::says(
      targets(npy("<f4", "(1, 2)", floats({0, 0})), npy("|S1", "(1,)", "a"), {"a"}).status(),
      "all zero"));
}

}  // namespace engram
