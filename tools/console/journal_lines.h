// Lines as systemd's journal wants them: a priority in front, and nothing that it adds itself (time,
// program, colour).
//
//     <3>error ... <4>warning ... <6>what was done
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace engram {

enum class Priority { error = 3, warning = 4, info = 6 };  // of syslog(3)

// Whether what is written to `stream` goes to the journal: $JOURNAL_STREAM names this very stream. (A
// child inherits the variable, but may write elsewhere.)
bool journal_reads(std::FILE* stream);

// `text` with the priority before each of its lines; empty lines are left out. Ends with a newline.
std::string journal_lines(Priority priority, std::string_view text);

}  // namespace engram
