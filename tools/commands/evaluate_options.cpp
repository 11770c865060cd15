#include "tools/commands/evaluate_options.h"

#include <CLI/CLI.hpp>

#include "tools/commands/options.h"

namespace engram {

void add_evaluate_options(CLI::App& command, EvaluateOptions& options) {
  command
      .add_option("--train", options.source.train,
                  "Training pictures, a folder per class; or a feature file")
      ->type_name("DIR|FILE");
  command
      .add_option("--test", options.source.test,
                  "Test pictures, the same folders; or a feature file")
      ->type_name("DIR|FILE");
  command
      .add_option("--features", options.features, "One .npz with x_train, y_train, x_test, y_test")
      ->type_name("FILE");
  command
      .add_option("--protocol", options.protocol,
                  "cil: classes in tasks (default). dil: domains in turn. task-free: a stream. "
                  "joint: all at once")
      ->type_name("NAME");
  command.add_option("--head", options.heads, "What to measure, with commas (default engram)")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option(
          "--tasks", options.tasks,
          "Tasks (default 10, at most one per class); of task-free: how often it is tested (20, "
          "at most once per sample)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_option("--first", options.first, "Classes of the first task, where it differs")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_option("--increment", options.increment, "With --first: classes of each later task")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command.add_flag("--no-shuffle", options.no_shuffle, "Classes in the order of their names");
  command
      .add_option("--seed", options.class_seeds,
                  "Order of the classes (default 1993); a list is averaged")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(seed_number());
  command
      .add_option("--open-set", options.open_set,
                  "Hold this share of the classes out and measure what is called unknown")
      ->type_name("SHARE")
      ->check(between(0.001, 0.999));
  command
      .add_option("--false-alarm", options.false_alarm,
                  "With --open-set: known things that may be called unknown, in % (default 5)")
      ->type_name("PERCENT")
      ->check(between(0.0, 100.0));
  command
      .add_option("--domains", options.source.domains,
                  "dil: names and order of the domains; {} in --train and --test stands for each")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--phase1", options.phase1,
                  "Beside the frozen backbone, one adapted to the first task: adaptformer, ssf or "
                  "vpt (engram adapt)")
      ->type_name("METHOD");
  command
      .add_option("--phase1-epochs", options.phase1_settings.epochs,
                  "With --phase1: times every picture is shown (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  command
      .add_option("--phase1-batch", options.phase1_settings.batch,
                  "With --phase1: pictures of one step (default 48)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command
      .add_option("--phase1-learning-rate", options.phase1_settings.learning_rate,
                  "With --phase1: of the first epoch (default 0.01)")
      ->type_name("X")
      ->check(between(1e-9, 999.0));
  command
      .add_option("--phase1-head-start", options.phase1_head_start,
                  "With --phase1: means or random, as `engram adapt --head-start` (default means)")
      ->type_name("HOW");
  command.add_option("--shots", options.shots, "At most N training samples of each class")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command
      .add_option("--long-tail", options.long_tail,
                  "Uneven classes: 60:3 leaves from 60 down to 3 training samples")
      ->type_name("RANGE");
  command
      .add_option("--targets", options.targets,
                  "Head regression: an .npz with embeddings (K, D) and names (K)")
      ->type_name("FILE");
  command.add_option("--shrinkage", options.shrinkage, "Heads lda and rp-lda (default 0.01)")
      ->type_name("X")
      ->check(between(1e-12, 1e12));
  command
      .add_option("--queue", options.queue,
                  "Heads engram and ranpac: lambda by the newest N samples, learned last")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command
      .add_option(
          "--feature-scale", options.feature_scale,
          "exact: q = round(f * X) (default: the model card's; measured on features of a file)")
      ->type_name("X")
      ->check(between(1e-30, 1e30));
  command
      .add_option("--hidden-mul", options.hidden_mul,
                  "exact: gain of the hidden units in 1/65536 (default: the same)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command.add_option("--out", options.out, "Folder of the report (default engram-report)")
      ->type_name("DIR");
  add_kind_options(command, options.learner);
  command
      .add_option("--hidden", options.hidden, "M, hidden units; a list is compared (default 2000)")
      ->type_name("LIST")
      ->delimiter(',');
  command.add_option("--lambda", options.lambdas, "Rules or numbers; a list is compared")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--nonlinearity", options.nonlinearities,
                  "float: relu, square or none after the projection; a list is compared")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--projection-seed", options.projection_seeds,
                  "Seed of the projection (default 1); a list is averaged")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(seed_number());
}

}  // namespace engram
