/* Engram from C and from every language that can call C.
 *
 *     engram_learner* desk = NULL;
 *     if (engram_open("desk", NULL, &desk) != ENGRAM_OK) puts(engram_last_error());
 *     engram_learn_file(desk, "mug.jpg", "mug");
 *     engram_end_task(desk);
 *     engram_answer best;
 *     int count = 0;
 *     engram_classify_file(desk, "what.jpg", &best, 1, &count);
 *     engram_close(desk);
 *
 * Errors. A call that can fail returns an engram_code; engram_last_error() then says what happened,
 * what was kept and what to do. No C++ exception leaves a call. A null pointer where one is not
 * allowed is ENGRAM_INVALID_ARGUMENT.
 * Threads. Calls may come from any thread; calls on one learner wait for each other. Nobody may use
 * a learner that is being closed.
 * Durability. What a call has acknowledged with ENGRAM_OK survives kill -9 and power loss.
 * Text is UTF-8, ends with a zero byte, and is copied when it is passed in.
 */
#ifndef ENGRAM_ENGINE_ENGRAM_H
#define ENGRAM_ENGINE_ENGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same values as engram::Code of platform/status.h. New ones are added at the end. */
typedef enum engram_code {
  ENGRAM_OK = 0,
  ENGRAM_INVALID_ARGUMENT = 1, /* the request makes no sense: pointer, label, shape */
  ENGRAM_BAD_DATA = 2,         /* an input file is broken or is not what it should be */
  ENGRAM_NOT_FOUND = 3,        /* an input, a state or a model does not exist */
  ENGRAM_NOT_SUPPORTED = 4,    /* this build or this machine cannot do it */
  ENGRAM_OUT_OF_MEMORY = 5,    /* it does not fit this machine */
  ENGRAM_DEVICE_FAILURE = 6,   /* the GPU or its driver reported an error */
  ENGRAM_IO_FAILURE = 7,       /* the disk refused: full, read-only, broken */
  ENGRAM_BUSY = 8,             /* another process writes to this state */
  ENGRAM_INTERNAL = 9          /* a library failed in a way that the input does not explain */
} engram_code;

typedef struct engram_learner engram_learner;

/* All zero but `size` means: the defaults. Write engram_options o = ENGRAM_OPTIONS_INIT; */
typedef struct engram_options {
  size_t size;       /* sizeof(engram_options): lets later versions add fields */
  const char* home;  /* where models are; NULL: $ENGRAM_HOME, else the user's data folder */
  const char* model; /* NULL: the state's own, or efficientnet-lite0 for a new state */
  int read_only;     /* not 0: classify only, beside a process that writes */
  int threads;       /* of the backbone; 0: one per core. The learner's own arithmetic takes one
                        per core that the process may use, whatever stands here */
  int hidden;        /* M of a new state; 0: the default */
} engram_options;
#define ENGRAM_OPTIONS_INIT \
  { sizeof(engram_options), NULL, NULL, 0, 0, 0 }

typedef struct engram_answer {
  const char* label; /* belongs to the learner; valid until engram_close */
  float score;       /* about 1: sure, about 0: no */
} engram_answer;

/* Version of the library, "0.1.0". */
const char* engram_version(void);
/* "ok", "bad_data", ...; "unknown" for a value that is none. */
const char* engram_code_name(engram_code code);
/* Message of the last call that failed in this thread; "" if none did. Valid until the next
 * failure in this thread. */
const char* engram_last_error(void);

/* Where learners compute: "auto" (a GPU where there is a usable one, else the processor), "cpu" or
 * "cuda" (or ENGRAM_NOT_SUPPORTED, and engram_last_error() says why not). For the whole process, and
 * to be called before the first engram_open: while a learner is open it is ENGRAM_BUSY. A process
 * that never calls it computes on the processor. */
engram_code engram_use_backend(const char* name);
/* "cpu" or "cuda": what engram_use_backend chose. */
const char* engram_backend(void);

/* Opens the learner in the directory `state`; makes it if there is none, unless read_only.
 * `options` may be NULL. After a failure *learner is NULL. */
engram_code engram_open(const char* state, const engram_options* options, engram_learner** learner);
/* NULL is allowed and does nothing. */
void engram_close(engram_learner* learner);

/* Learns one picture. `rgb`: height rows of width * 3 bytes, red first, `stride` bytes from row to
 * row (0: width * 3). Files are JPEG or PNG. */
engram_code engram_learn_rgb(engram_learner* learner, const uint8_t* rgb, int width, int height,
                             size_t stride, const char* label);
engram_code engram_learn_file(engram_learner* learner, const char* path, const char* label);
/* Takes back the last `steps` calls of learn, as if they had never been. More than there are is
 * ENGRAM_INVALID_ARGUMENT; what can no longer be taken back exactly, ENGRAM_NOT_SUPPORTED: then
 * nothing has changed. */
engram_code engram_undo(engram_learner* learner, int steps);
/* Solves for everything learned so far: from here on the new classes are recognised. */
engram_code engram_end_task(engram_learner* learner);

/* The best `top` labels, best first, into `answers`; *count says how many there are: fewer than
 * `top` when fewer classes are known. */
engram_code engram_classify_rgb(engram_learner* learner, const uint8_t* rgb, int width, int height,
                                size_t stride, engram_answer* answers, int top, int* count);
engram_code engram_classify_file(engram_learner* learner, const char* path, engram_answer* answers,
                                 int top, int* count);

/* The best label with what is behind it. */
typedef struct engram_judgement {
  const char* label; /* the closest class; belongs to the learner; valid until engram_close */
  float score;       /* about 1: sure, about 0: no */
  float probability; /* that the picture shows it, 0 to 1 */
  int unknown;       /* not 0: the picture probably shows none of the classes */
} engram_judgement;

/* Like engram_classify with one answer. `false_alarms`, 0 to 1: the share of pictures of known
 * things that may be called unknown; 0.05 is usual. ENGRAM_NOT_FOUND: no task has ended yet. */
engram_code engram_judge_rgb(engram_learner* learner, const uint8_t* rgb, int width, int height,
                             size_t stride, double false_alarms, engram_judgement* judgement);
engram_code engram_judge_file(engram_learner* learner, const char* path, double false_alarms,
                              engram_judgement* judgement);

/* Classes that can be recognised, numbered from 0. -1 for a null learner. */
int engram_class_count(engram_learner* learner);
/* Valid until engram_close; NULL if there is no such class. */
const char* engram_class_label(engram_learner* learner, int index);

#ifdef __cplusplus
}
#endif

#endif
