// The commands of the program, one add_ function each, in the order of the manual.
#pragma once

#include "tools/session.h"

namespace engram {

void add_demo(CLI::App& app, Session& session);
void add_camera(CLI::App& app, Session& session);
void add_learn(CLI::App& app, Session& session);
void add_classify(CLI::App& app, Session& session);
void add_classes(CLI::App& app, Session& session);
void add_history(CLI::App& app, Session& session);
void add_undo(CLI::App& app, Session& session);
void add_relabel(CLI::App& app, Session& session);
void add_rename(CLI::App& app, Session& session);
void add_forget(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_import(CLI::App& app, Session& session);
void add_merge(CLI::App& app, Session& session);
void add_inspect(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_adapt(CLI::App& app, Session& session);
void add_evaluate(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_model_command(CLI::App& app, Session& session);
void add_features(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_service(CLI::App& app, Session& session);
void add_bundle(CLI::App& app, Session& session);
void add_version(CLI::App& app, Session& session);

}  // namespace engram
