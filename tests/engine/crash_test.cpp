// kill -9, more than a hundred times, at times that a fixed seed chooses: after each, everything
// that was acknowledged is there, and nothing is there that was never asked for.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "tests/crash/crash_events.h"
#include "tests/support/catch.h"
#include "tests/support/temp_directory.h"

extern char** environ;

namespace engram {

namespace {

class Victim {
 public:
  explicit Victim(const std::string& state) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::string program = ENGRAM_CRASH_PROGRAM;
    std::string argument = state;
    char* arguments[] = {program.data(), argument.data(), nullptr};
    const int error =
        ::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    acknowledged_ = ends[0];
    REQUIRE(error == 0);
  }
  ~Victim() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(acknowledged_);
  }

  // The next acknowledged event; 0: the process has ended.
  std::int64_t next() {
    std::int64_t number = 0;
    return ::read(acknowledged_, &number, sizeof(number)) == sizeof(number) ? number : 0;
  }
  // Returns the last event that was acknowledged before the end; 0: none.
  std::int64_t kill() {
    REQUIRE(::kill(process_, SIGKILL) == 0);
    siginfo_t end{};
    REQUIRE(::waitid(P_PID, id_t(process_), &end, WEXITED | WNOWAIT) == 0);
    REQUIRE(end.si_code == CLD_KILLED);  // by us, not ended by a failure of its own
    std::int64_t last = 0;
    for (std::int64_t number = next(); number != 0; number = next()) last = number;
    return last;
  }

 private:
  pid_t process_ = -1;
  int acknowledged_ = -1;
};

// The same story in memory.
class Mirror {
 public:
  const Learner& at(std::int64_t number) {
    while (number_ < number) {
      ++number_;
      if (test::ends_task(number_)) {
        REQUIRE(learner_.close_task(nullptr).ok());
      } else if (test::undoes(number_)) {
        const std::int64_t id = learner_.last_id();
        REQUIRE(learner_.unlearn({{id - 1, id}, test::small_batch(number_ - 1)}).ok());
      } else if (test::renames(number_)) {
        REQUIRE(learner_.rename("red", "crimson").ok());
      } else {
        REQUIRE(learner_.learn(test::small_batch(number_)).ok());
      }
    }
    return learner_;
  }

 private:
  Learner learner_ = Learner::create(test::small_config()).value();
  std::int64_t number_ = 0;
};

}  // namespace

TEST_CASE("what was acknowledged survives kill -9", "[engine][store][crash][child]") {
  const test::TempDirectory directory;
  const std::string state = directory / "state";
  { REQUIRE(Store::create(state, test::small_config()).ok()); }
  constexpr int kKills = 120;
  std::mt19937 random(1);
  Mirror mirror;
  std::int64_t known = 0;  // the last event found on disk
  for (int kill = 0; kill < kKills; ++kill) {
    Victim victim(state);
    std::int64_t acknowledged = known;
    if (kill % 4 != 0) {  // or else killed while it starts, loads and repairs
      acknowledged = victim.next();
      REQUIRE(acknowledged == known + 1);
      if (kill == 1) {
        REQUIRE(Store::open(state).status().code() == Code::busy);
        REQUIRE(verify_store(state).ok());
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25'000));
    acknowledged = std::max(acknowledged, victim.kill());

    const Store store = Store::open(state).value();
    const Learner& expected = mirror.at(store.sequence());
    INFO("kill " << kill << ", acknowledged " << acknowledged << ", found " << store.sequence());
    // One more may be there: durable, but killed before it could be told.
    REQUIRE(store.sequence() >= acknowledged);
    REQUIRE(store.sequence() <= acknowledged + 1);
    REQUIRE(store.learner().samples() == expected.samples());
    REQUIRE(store.learner().tasks() == expected.tasks());
    REQUIRE(store.learner().digest() == expected.digest());
    if (store.learner().tasks() > 0) {
      const StoredReadout readout = read_readout(state).value();
      REQUIRE(readout.sequence == test::last_readout(store.sequence()));
      REQUIRE(readout.readout.weights == store.learner().readout()->weights);
    }
    known = store.sequence();
  }
  REQUIRE(verify_store(state)->ok);
  REQUIRE(known > kKills);  // it did get on
}

}  // namespace engram
