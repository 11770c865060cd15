// Large strings that take memory from the system as they are written, and give it back when they go.
// The heap by itself keeps what is freed: after the bodies of many clients, many times what is in use.
#pragma once

#include <cstddef>
#include <string>

namespace engram {

// Room for so many bytes. Pages that nobody has written to cost nothing.
void reserve_lazily(std::string& text, std::size_t bytes);
// Empties it and lets its memory go. (Assignment would keep it.)
void release(std::string& text);

}  // namespace engram
