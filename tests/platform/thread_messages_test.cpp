#include "platform/thread_messages.h"

#include "tests/support/catch.h"

namespace engram {

TEST_CASE("thread_messages: a thread hears why its own call failed", "[platform]") {
  ThreadMessages messages;
  const ThreadMessages::Mark since = messages.start();
  CHECK(messages.last(since) == "no reason given");
  messages.add("the first");
  messages.add("mine");
  std::thread([&] {
    const ThreadMessages::Mark later = messages.start();
    CHECK(messages.last(later) == "no reason given");  // what others heard before is not of it
    messages.add("another's");
    CHECK(messages.last(later) == "another's");
  }).join();
  CHECK(messages.last(since) == "mine");
  CHECK(messages.last(messages.start()) == "no reason given");  // nor what was heard before
}

TEST_CASE("thread_messages: what a thread of the library says is heard", "[platform]") {
  ThreadMessages messages;
  const ThreadMessages::Mark since = messages.start();
  std::thread([&] { messages.add("from within"); }).join();
  CHECK(messages.last(since) == "from within");
}

}  // namespace engram
