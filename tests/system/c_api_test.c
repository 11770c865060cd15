/* The C API, used as a binding would use it, with a real model and real photos.
 * Usage: c_api_test HOME STATE LABEL=PHOTO...        (run by c_api_test.py) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engram.h"

#define EXPECT(condition)                                                                     \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: expected %s; last error: %s\n", __FILE__, __LINE__, #condition, \
              engram_last_error());                                                           \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

enum { kWidth = 64, kHeight = 48, kStride = 3 * kWidth + 5, kTop = 3, kRepeats = 5 };

/* Slanted stripes with padding after each row, unlike any photo. */
static void draw_stripes(uint8_t* rgb) {
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < 3 * kWidth; ++x) {
      rgb[y * kStride + x] = (uint8_t)((x / 3 + y) / 6 % 2 ? 230 : 20 * (x % 3));
    }
  }
}

static void expect_refusals(const char* home, const char* state) {
  engram_learner* learner = (engram_learner*)&learner; /* must become NULL */
  engram_options options = ENGRAM_OPTIONS_INIT;
  EXPECT(engram_open(NULL, NULL, &learner) == ENGRAM_INVALID_ARGUMENT && learner == NULL);
  EXPECT(engram_open(state, NULL, NULL) == ENGRAM_INVALID_ARGUMENT);
  options.size = 1;
  EXPECT(engram_open(state, &options, &learner) == ENGRAM_INVALID_ARGUMENT && learner == NULL);
  options.size = sizeof options;
  options.home = home;
  options.read_only = 1;
  EXPECT(engram_open(state, &options, &learner) == ENGRAM_NOT_FOUND && learner == NULL);
  options.read_only = 0;
  options.model = "no-such-model";
  EXPECT(engram_open(state, &options, &learner) == ENGRAM_NOT_FOUND && learner == NULL);
  EXPECT(strstr(engram_last_error(), "no-such-model") != NULL);

  int count = 7;
  EXPECT(engram_learn_file(NULL, "a.png", "a") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_end_task(NULL) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_undo(NULL, 1) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_classify_file(NULL, "a.png", NULL, 1, &count) == ENGRAM_INVALID_ARGUMENT);
  engram_judgement judged;
  EXPECT(engram_judge_file(NULL, "a.png", 0.05, &judged) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(count == 0);
  EXPECT(engram_class_count(NULL) == -1);
  EXPECT(engram_class_label(NULL, 0) == NULL);
  engram_close(NULL);
}

static void expect_backends(void) {
  EXPECT(strcmp(engram_backend(), "cpu") == 0); /* unless one asks */
  EXPECT(engram_use_backend(NULL) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_use_backend("toaster") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(strstr(engram_last_error(), "toaster") != NULL);
  const engram_code cuda = engram_use_backend("cuda");
  EXPECT(cuda == ENGRAM_OK || cuda == ENGRAM_NOT_SUPPORTED || cuda == ENGRAM_DEVICE_FAILURE);
  EXPECT(strcmp(engram_backend(), cuda == ENGRAM_OK ? "cuda" : "cpu") == 0);
  EXPECT(engram_use_backend("cpu") == ENGRAM_OK);
  EXPECT(strcmp(engram_backend(), "cpu") == 0);
  EXPECT(engram_use_backend("auto") == ENGRAM_OK);
  EXPECT(strcmp(engram_backend(), cuda == ENGRAM_OK ? "cuda" : "cpu") == 0);
}

static void expect_bad_pictures_change_nothing(engram_learner* learner, const uint8_t* rgb) {
  const int known = engram_class_count(learner);
  engram_answer answer;
  int count = 0;
  EXPECT(engram_learn_file(learner, "missing.png", "x") == ENGRAM_NOT_FOUND);
  EXPECT(strstr(engram_last_error(), "missing.png") != NULL);
  EXPECT(engram_learn_file(learner, NULL, "x") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, NULL, 8, 8, 0, "x") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, rgb, 8, 8, 0, NULL) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, rgb, 8, 8, 0, "") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, rgb, 0, 8, 0, "x") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, rgb, 8, -1, 0, "x") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, rgb, 1 << 30, 1 << 30, 0, "x") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_learn_rgb(learner, rgb, 8, 8, 23, "x") == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_classify_rgb(learner, rgb, 8, 8, 0, &answer, 0, &count) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_classify_rgb(learner, rgb, 8, 8, 0, NULL, 1, &count) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_classify_rgb(learner, rgb, 8, 8, 0, &answer, 1, NULL) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_class_count(learner) == known);
  EXPECT(engram_class_label(learner, known) == NULL);
  EXPECT(engram_class_label(learner, -1) == NULL);
}

/* No class of the learner is like the stripes; `label` is what a photo shows. */
static void expect_judged(engram_learner* learner, const char* photo, const char* label,
                          const uint8_t* rgb) {
  engram_judgement judged;
  const double bad[] = {-0.01, 1.01, strtod("nan", NULL)};
  for (int i = 0; i < 3; ++i) {
    EXPECT(engram_judge_file(learner, photo, bad[i], &judged) == ENGRAM_INVALID_ARGUMENT);
    EXPECT(judged.label == NULL);
  }
  EXPECT(engram_judge_file(learner, photo, 0.05, NULL) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_judge_file(learner, "missing.png", 0.05, &judged) == ENGRAM_NOT_FOUND);
  EXPECT(engram_judge_rgb(learner, rgb, 0, 8, 0, 0.05, &judged) == ENGRAM_INVALID_ARGUMENT);

  EXPECT(engram_judge_file(learner, photo, 0.0, &judged) == ENGRAM_OK);
  EXPECT(strcmp(judged.label, label) == 0 && !judged.unknown);
  EXPECT(judged.probability > 0.3F && judged.probability <= 1.0F && judged.score > 0.5F);
  EXPECT(engram_judge_rgb(learner, rgb, kWidth, kHeight, kStride, 0.05, &judged) == ENGRAM_OK);
  EXPECT(judged.label != NULL && judged.unknown && judged.probability <= 1.0F);
}

static void expect_recognised(engram_learner* learner, const char* photo, const char* label) {
  engram_answer answers[kTop];
  int count = 0;
  EXPECT(engram_classify_file(learner, photo, answers, kTop, &count) == ENGRAM_OK);
  EXPECT(count >= 1 && count <= kTop && count <= engram_class_count(learner));
  EXPECT(strcmp(answers[0].label, label) == 0);
  for (int i = 1; i < count; ++i) EXPECT(answers[i].score <= answers[i - 1].score);
  printf("%s: %s %.2f\n", photo, answers[0].label, answers[0].score);
}

int main(int argc, char** argv) {
  if (argc < 5) return 64;
  const char* home = argv[1];
  const char* state = argv[2];
  char** pairs = argv + 3;
  const int classes = argc - 3;
  uint8_t* stripes = malloc((size_t)kHeight * kStride);
  draw_stripes(stripes);
  printf("engram %s\n", engram_version());
  EXPECT(strcmp(engram_code_name(ENGRAM_BUSY), "busy") == 0);
  EXPECT(strcmp(engram_code_name((engram_code)99), "unknown") == 0);
  expect_backends();
  expect_refusals(home, state);

  engram_options options = ENGRAM_OPTIONS_INIT;
  options.home = home;
  options.hidden = 500;
  engram_learner* writer = NULL;
  EXPECT(engram_open(state, &options, &writer) == ENGRAM_OK);
  EXPECT(engram_use_backend("cpu") == ENGRAM_BUSY);
  EXPECT(engram_class_count(writer) == 0);
  for (int i = 0; i < classes; ++i) {
    char* photo = strchr(pairs[i], '=');
    *photo++ = 0; /* pairs[i] is the label now, the photo follows it */
    for (int n = 0; n < kRepeats; ++n) {
      EXPECT(engram_learn_file(writer, photo, pairs[i]) == ENGRAM_OK);
    }
  }
  engram_judgement early;
  EXPECT(engram_judge_rgb(writer, stripes, kWidth, kHeight, kStride, 0.05, &early) ==
         ENGRAM_NOT_FOUND);
  EXPECT(engram_end_task(writer) == ENGRAM_OK);
  EXPECT(engram_class_count(writer) == classes);
  expect_judged(writer, pairs[0] + strlen(pairs[0]) + 1, pairs[0], stripes);
  expect_bad_pictures_change_nothing(writer, stripes);

  /* A second task from memory instead of files; the first must survive it. */
  for (int n = 0; n < kRepeats; ++n) {
    EXPECT(engram_learn_rgb(writer, stripes, kWidth, kHeight, kStride, "stripes") == ENGRAM_OK);
  }
  EXPECT(engram_end_task(writer) == ENGRAM_OK);
  EXPECT(engram_class_count(writer) == classes + 1);
  EXPECT(strcmp(engram_class_label(writer, classes), "stripes") == 0);
  engram_answer answer;
  int count = 0;
  EXPECT(engram_classify_rgb(writer, stripes, kWidth, kHeight, kStride, &answer, 1, &count) ==
         ENGRAM_OK);
  EXPECT(count == 1 && strcmp(answer.label, "stripes") == 0);

  /* A slip of the finger, and back. */
  EXPECT(engram_learn_rgb(writer, stripes, kWidth, kHeight, kStride, "slip") == ENGRAM_OK);
  EXPECT(engram_undo(writer, 1) == ENGRAM_OK);
  EXPECT(engram_undo(writer, 0) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(engram_undo(writer, 1000) == ENGRAM_INVALID_ARGUMENT);
  EXPECT(strstr(engram_last_error(), "past the beginning") != NULL);
  EXPECT(engram_class_count(writer) == classes + 1);

  /* One writes, others read. */
  engram_learner* other = NULL;
  EXPECT(engram_open(state, &options, &other) == ENGRAM_BUSY && other == NULL);
  options.read_only = 1;
  EXPECT(engram_open(state, &options, &other) == ENGRAM_OK);
  EXPECT(engram_learn_file(other, pairs[0] + strlen(pairs[0]) + 1, "x") != ENGRAM_OK);
  EXPECT(engram_end_task(other) != ENGRAM_OK);
  EXPECT(engram_undo(other, 1) != ENGRAM_OK);
  engram_close(writer);
  EXPECT(engram_class_count(other) == classes + 1);
  for (int i = 0; i < classes; ++i) {
    expect_recognised(other, pairs[i] + strlen(pairs[i]) + 1, pairs[i]);
  }
  engram_close(other);
  free(stripes);
  puts("C API: ok");
  return 0;
}
