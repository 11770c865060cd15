"""Kernels with a switch at each barrier, mask and bound, to show that the tests notice each of them.

    mutate_kernels.py <repository> <folder>    writes <folder>/kernels/*.cu, headers with device code and <folder>/mutants.json

A copy differs from its original in conditions alone, line by line: `mutant(7) || i < n` is `i < n` unless the
mutant 7 is asked for. What is switched off, once each, in code that runs on the device:

    barrier    __syncthreads(), the barrier and the vote in __syncthreads_and() and _or()
    mask       `& kOnes`, and the lanes of a collective
    bound      `i < n` that lets something happen; `i >= n` that leaves; an alignment that a vector access asks for
    loop       one round more, where the number of rounds is not a constant
    clamp      min(a, b) and max(a, b) to a, `a < b ? b : a` too

Functions that the CPU has as well are copied as always inlined: of two inline functions of a name the linker takes one.
"""
import json
import pathlib
import re
import sys

DEVICE_CODE = re.compile(r"^(?:template <[^>]*>\s*)?(?:__global__|__device__|struct \w+)", re.M)
SHARED_CODE = re.compile(r"^ *ENGRAM_HOST_DEVICE\b", re.M)  # for the CPU too: function by function
SHARED_HEADERS = ("platform/picture_view.h", "kernels/preprocess_axis.h")
ALIGNMENT = r"(?:vectors|aligned\.\w)"
CONSTANT = re.compile(r"[-+*/ ()\d]*(?:\bk[A-Z]\w*\b[-+*/ ()\d]*)*")


def matching(text, at):
    """The place of the bracket that closes the one at `at`."""
    closing = {"(": ")", "{": "}"}[text[at]]
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == text[at]) - (text[i] == closing)
        if depth == 0:
            return i
    raise ValueError("unbalanced")


def device_regions(text, is_shared):
    end = 0
    for match in (SHARED_CODE if is_shared else DEVICE_CODE).finditer(text):
        begin = text.index("{", match.end())
        if match.start() >= end and (is_shared or "__" in text[match.start():matching(text, begin)]):
            end = matching(text, begin)
            yield begin, end


def operand(text, at, step):
    """Where the operand that touches `at` ends, walking by `step`; stops at what binds less than a comparison."""
    opening, closing = ("(", ")") if step > 0 else (")", "(")
    depth = 0
    while True:
        if text[at] == opening or text[at] == ("[" if step > 0 else "]"):
            depth += 1
        elif text[at] in closing + ("]" if step > 0 else "["):
            if depth == 0:
                return at
            depth -= 1
        elif depth == 0 and (text[at] in ";,?{}" or text.startswith(("&&", "||", " : ", " = "), at)
                             or (step < 0 and text[at - 1:at + 1] in ("&&", "||", "= ", ": "))):
            return at
        at += step


def comparisons(text, begin, end):
    for match in re.finditer(r" (<|<=|>|>=) ", text[begin:end]):
        at = begin + match.start()
        left = operand(text, at, -1) + 1
        if "return " in text[left:at]:
            left = text.rindex("return ", left, at) + len("return ")
        left += len(text[left:at]) - len(text[left:at].lstrip())
        right = operand(text, at + len(match.group()), 1)
        while text[right - 1] == " ":
            right -= 1
        yield left, right, match.group(1), text[at + len(match.group()):right]


def enclosing_head(text, at):
    """'for', 'if' or '' of the parentheses around `at`, and where they close."""
    depth = 0
    for i in range(at - 1, 0, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth < 0:
            word = re.search(r"(\w+) ?$", text[:i])
            if word and word.group(1) in ("for", "if"):
                return word.group(1), matching(text, i)
            depth = 0
        if text[i] in "{}" or (text[i] == ";" and depth == 0 and "for (" not in text[max(0, i - 80):i]):
            return "", at
    return "", at


def clamps(text, begin, end):
    """Of min(a, b) and max(a, b) the second operand, which is a when it is switched off. Not of sums over lanes."""
    for m in re.finditer(r"\b(min|max)\(", text[begin:end]):
        close = matching(text, begin + m.end() - 1)
        first = operand(text, begin + m.end(), 1)
        a, b = text[begin + m.end():first], text[first + 1:close].strip()
        if "_sync(" not in b and (m.group(1) == "max" or not CONSTANT.fullmatch(b)):
            yield text.index(b, first), close, "clamp", f"({{}} ? ({a}) : ({b}))", begin + m.start()
    for m in re.finditer(r"(\w+) [<>] (\w+)(?= \? \2 : )", text[begin:end]):
        yield begin + m.start(), begin + m.end(), "clamp", f"(!{{}} && {m.group()})", begin + m.start()


def mutations(text, is_shared):
    """(begin, end, kind, replacement with {} for the switch, where the text to show begins) of every mutant."""
    for begin, end in device_regions(text, is_shared):
        yield from clamps(text, begin, end)
        yield from ((*m, m[0]) for m in other_mutations(text, begin, end))


def other_mutations(text, begin, end):
    code = text[begin:end]
    for m in re.finditer(r"__sync(?:threads|warp)\(\);", code):
        yield begin + m.start(), begin + m.end(), "barrier", "if (!{}) " + m.group()
    for m in re.finditer(r"__syncthreads_(?:and|or)\(", code):
        close = matching(text, begin + m.end() - 1)
        inner = text[begin + m.end():close]
        yield (begin + m.start(), close + 1, "barrier",
               f"({{}} ? ({inner}) : {m.group()}{inner}))")
    for m in re.finditer(r"& kOnes\b", code):
        yield begin + m.start(), begin + m.end(), "mask", "& ({} ? ~0u : kOnes)"
    for m in re.finditer(r"(?<=_sync\()~0u", code):
        yield begin + m.start(), begin + m.end(), "mask", "({} ? 0xffffu : ~0u)"
    for m in re.finditer(rf"{ALIGNMENT}(?= &&)|(?<=if \(){ALIGNMENT}(?=\))", code):
        yield begin + m.start(), begin + m.end(), "bound", "({} || " + m.group() + ")"
    for left, right, operator, bound in comparisons(text, begin, end):
        head, close = enclosing_head(text, left)
        whole = text[left:right]
        if head == "for":
            if not CONSTANT.fullmatch(bound):
                yield left, right, "loop", whole + " + {}"
        elif head == "if" and re.match(r"\)\s*(return;|continue;|__trap)", text[close:]):
            yield left, right, "bound", f"(!{{}} && {whole})"
        else:
            yield left, right, "bound", f"({{}} || {whole})"


def mutate(path, first):
    text = path.read_text()
    is_shared = path.as_posix().endswith(SHARED_HEADERS)
    found = sorted(mutations(text, is_shared), key=lambda m: (m[0], -m[1], m[2] != "clamp"))
    mutants, pieces, at = [], [], 0
    for begin, end, kind, replacement, shown in found:
        if begin < at:  # inside of another one, which is enough
            continue
        number = first + len(mutants)
        line = text.count("\n", 0, begin) + 1
        mutants.append({"number": number, "kernel": path.name, "line": line, "kind": kind,
                        "text": " ".join(text[shown:end + (shown < begin)].split())})
        pieces += [text[at:begin], replacement.replace("{}", f"simt::mutant({number})")]
        at = end
    copy = "".join(pieces) + text[at:]
    if is_shared:  # in the place of its first line, a comment
        copy = '#include "tests/support/mutant.h"' + copy[copy.index("\n"):]
        copy = copy.replace("ENGRAM_HOST_DEVICE", "[[gnu::always_inline]]")
    return copy, mutants


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    mutants = []
    for path in sorted([*source.glob("kernels/*.cu"), *source.glob("kernels/*_device.h"),
                        *(source / name for name in SHARED_HEADERS)]):
        text, found = mutate(path, len(mutants) + 1)
        copy = folder / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        mutants += found
    (folder / "mutants.json").write_text(json.dumps(mutants, indent=1))


if __name__ == "__main__":
    main()
