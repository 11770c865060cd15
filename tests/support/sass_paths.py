"""What a warp executes of a compiled kernel when nothing is out of the ordinary: once, and in its main loop.

A kernel has slow twins of its fast paths: for memory that is not aligned, for the ends of rows, for numbers that are
not whole. So instructions are not simply counted; they are followed along a path. Where the code branches, the path
with the most of what matters is taken (tensor instructions, wide loads and stores, barriers), and of several such the
shortest. Loops inside are stepped over, and counted by themselves.
"""
from collections import Counter

import sass

# What matters, in this order: a loop is known by the first that it has.
PRIMARY = ("tensor", "multiply_bytes", "fma", "load_global")


class Block:
    def __init__(self, code):
        self.code, self.next, self.matters = code, [], 0

    def weigh(self):
        """What the ordinary path does not leave out."""
        for i in self.code:
            if sass.kind(i) == "tensor":
                self.matters += 100
            elif sass.kind(i) in sass.MEMORY:
                self.matters += sass.width(i) >= 8
            else:
                self.matters += sass.kind(i) == "barrier" or i.opcode.startswith(("IDP", "FFMA"))


def blocks_of(code):
    """Basic blocks with their successors; the first is the entry.

    A call under a condition is a jump in disguise (sm_87 leaves loops that way); others return, and are stepped over.
    """
    target = {i.address: int(i.operands.split()[-1], 16) for i in code
              if (i.opcode.startswith("BRA") or (i.opcode.startswith("CALL.REL") and i.guard)) and
              i.operands.split()[-1].startswith("0x")}
    starts = {code[0].address} | set(target.values())
    starts |= {b.address for a, b in zip(code, code[1:]) if a.address in target or a.opcode.startswith(("EXIT", "RET"))}
    blocks, order = {}, []
    for i in code:
        if i.address in starts:
            order.append(i.address)
            blocks[i.address] = Block([])
        blocks[order[-1]].code.append(i)
    for here, after in zip(order, order[1:] + [None]):
        block, last = blocks[here], blocks[here].code[-1]
        block.weigh()
        jumps = last.address in target
        always = not last.guard and " " not in last.operands and "," not in last.operands and "DIV" not in last.opcode
        if jumps and target[last.address] in blocks:
            block.next.append(target[last.address])
        ends = last.opcode.startswith(("EXIT", "RET")) and not last.guard
        if after is not None and not ends and not (jumps and always):
            block.next.append(after)
    return blocks, order[0]


def loops_of(blocks, entry):
    """Header -> blocks of its loop: a jump back to a block through which every way there leads."""
    order, seen = [], set()

    def visit(at):  # depth first, with a stack of our own
        stack = [(at, iter(blocks[at].next))]
        seen.add(at)
        while stack:
            here, rest = stack[-1]
            step = next((n for n in rest if n not in seen), None)
            if step is None:
                order.append(stack.pop()[0])
            else:
                seen.add(step)
                stack.append((step, iter(blocks[step].next)))

    visit(entry)
    order.reverse()
    before = {b: [] for b in order}
    for b in order:
        for n in blocks[b].next:
            before[n].append(b)
    dominators = {entry: {entry}}
    changed = True
    while changed:
        changed = False
        for b in order[1:]:
            known = [dominators[p] for p in before[b] if p in dominators]
            new = set.intersection(*known) | {b}
            if dominators.get(b) != new:
                dominators[b], changed = new, True
    loops = {}
    for b in order:
        for header in blocks[b].next:
            if header in dominators[b]:
                body, todo = loops.setdefault(header, {header}), [b]
                while todo:
                    at = todo.pop()
                    if at not in body:
                        body.add(at)
                        todo += before[at]
    return loops, order


def path(blocks, order, start, inside, inner, back):
    """Blocks of the ordinary path from `start` through `inside`; to `start` again if `back`, else to the end.

    inner: header -> body of loops to step over, whose blocks cost nothing.
    """
    rank = {b: k for k, b in enumerate(order)}
    of_inner = {b for body in inner.values() for b in body}
    best = {start: (0, 0, None)}
    ends = []
    for b in order:
        if b not in best or b not in inside:
            continue
        matters, length, _ = best[b]
        if b not in of_inner:
            matters, length = matters + blocks[b].matters, length + len(blocks[b].code)
        leads = blocks[b].next
        if (back and start in leads) or (not back and not leads):
            ends.append(((matters, -length), b))
        for n in leads:
            if n in inside and rank[n] > rank[b]:
                if n not in best or (matters, -length) > (best[n][0], -best[n][1]):
                    best[n] = (matters, length, b)
    if not ends:
        return []
    at, way = max(ends)[1], []
    while at is not None:
        if at not in of_inner:
            way.append(at)
        at = best[at][2]
    return way[::-1]


def counts(code):
    """Instructions by kind, bytes of memory by kind and width, and `issued`: all of them."""
    found = Counter(sass.kind(i) for i in code)
    found["issued"] = len(code)
    found["multiply_bytes"] = sum(i.opcode.startswith("IDP") for i in code)
    found["fma"] = sum(i.opcode.startswith("FFMA") for i in code)
    for i in code:
        if sass.kind(i) in sass.MEMORY:
            found[f"{sass.kind(i)}_bytes"] += sass.width(i)
            found[f"{sass.kind(i)}_{8 * sass.width(i)}"] += 1
    return {name: count for name, count in sorted(found.items()) if count}


def follow(code):
    """`once`: outside of loops. `main`: an iteration of the main loop. `around`: one of the loops around it.

    `inner`, if there are any: an iteration of each loop inside the main one, which `main` does not contain.
    """
    blocks, entry = blocks_of(code)
    loops, order = loops_of(blocks, entry)
    inside_of = {h: {g: loops[g] for g in loops if g != h and loops[g] < loops[h]} for h in loops}
    measured, weight = {}, {}
    for header, body in loops.items():
        way = path(blocks, order, header, body, inside_of[header], back=True)
        measured[header] = counts([i for b in way for i in blocks[b].code])
        weight[header] = sum(blocks[b].matters for b in way)
    once = path(blocks, order, entry, set(order), loops, back=False)
    result = {"once": counts([i for b in once for i in blocks[b].code])}
    for primary in PRIMARY:
        amount = {h: measured[h].get(primary, 0) for h in loops}
        if not any(amount.values()):
            continue
        best = max(loops, key=lambda h: (amount[h], weight[h], -measured[h]["issued"]))
        result["primary"], result["main"] = primary, measured[best]
        around = [measured[h] for h in loops if h != best and loops[best] < loops[h]]
        if around:
            result["around"] = {k: sum(a.get(k, 0) for a in around) for k in sorted(set().union(*around))}
        if inside_of[best]:
            result["inner"] = [measured[h] for h in inside_of[best]]
        break
    return result
