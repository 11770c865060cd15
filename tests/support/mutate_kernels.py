"""Kernels with a switch at each barrier, mask and bound, to show that the tests notice each of them.

    mutate_kernels.py <repository> <folder>    writes <folder>/kernels/*.cu, *_device.h and <folder>/mutants.json

A copy differs from its original in conditions alone, line by line: `mutant(7) || i < n` is `i < n` unless the
mutant 7 is asked for. What is switched off, once each, in code that runs on the device:

    barrier    __syncthreads(), the barrier and the vote in __syncthreads_and() and _or()
    mask       `& kOnes`, and the lanes of a collective
    bound      `i < n` that lets something happen; `i >= n` that leaves; an alignment that a vector access asks for
    loop       one round more, where the number of rounds is not a constant
    clamp      min(a, b) to a
"""
import json
import pathlib
import re
import sys

DEVICE_CODE = re.compile(r"^(?:template <[^>]*>\s*)?(?:__global__|__device__|struct \w+)", re.M)
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


def device_regions(text):
    end = 0
    for match in DEVICE_CODE.finditer(text):
        begin = text.index("{", match.end())
        if match.start() >= end and "__" in text[match.start():matching(text, begin)]:
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
                             or (step < 0 and text[at - 1:at + 1] in ("&&", "||", "= "))):
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


def mutations(text):
    """(begin, end, kind, replacement with {} for the switch) of every mutant."""
    for begin, end in device_regions(text):
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
        for m in re.finditer(r"(?:vectors|aligned_pairs|aligned\.\w)(?= &&)", code):
            yield begin + m.start(), begin + m.end(), "bound", "({} || " + m.group() + ")"
        for m in re.finditer(r"\bmin\(", code):
            close = matching(text, begin + m.end() - 1)
            first = operand(text, begin + m.end(), 1)
            a, b = text[begin + m.end():first], text[first + 1:close].strip()
            if not CONSTANT.fullmatch(b):
                yield begin + m.start(), close + 1, "clamp", f"({{}} ? ({a}) : min({a}, {b}))"
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
    found = sorted(mutations(text), key=lambda m: (m[0], -m[1]))
    mutants, pieces, at = [], [], 0
    for begin, end, kind, replacement in found:
        if begin < at:  # inside of another one, which is enough
            continue
        number = first + len(mutants)
        line = text.count("\n", 0, begin) + 1
        mutants.append({"number": number, "kernel": path.name, "line": line, "kind": kind,
                        "text": " ".join(text[begin:end].split())})
        pieces += [text[at:begin], replacement.replace("{}", f"mutant({number})")]
        at = end
    return "".join(pieces) + text[at:], mutants


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (folder / "kernels").mkdir(parents=True, exist_ok=True)
    mutants = []
    for path in sorted([*source.glob("kernels/*.cu"), *source.glob("kernels/*_device.h")]):
        text, found = mutate(path, len(mutants) + 1)
        (folder / "kernels" / path.name).write_text(text)
        mutants += found
    (folder / "mutants.json").write_text(json.dumps(mutants, indent=1))


if __name__ == "__main__":
    main()
