"""The checker of compiled kernels, on made-up listings: it must notice each way in which a kernel leaves its budget.

Needs neither nvcc nor cuobjdump.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import kernel_budget  # noqa: E402
import sass  # noqa: E402
import sass_paths  # noqa: E402
from kernel_figures import figures_of, short_name  # noqa: E402
from occupancy import blocks_per_multiprocessor, occupancy  # noqa: E402

# A loop with a fast and a slow way to load, products, and a way out in disguise.
CODE = """
        Function : _Z4tile
        IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]
        @P0 BRA 0x50
        LDG.E.U8 R2, [R4]
        LDG.E.U8 R3, [R4+0x1]
        BRA 0x60
        LDG.E.128 R4, [R8.64]
        BAR.SYNC.DEFER_BLOCKING 0x0
        LDS.64 R12, [R2]
        IMMA.16832.U8.S8 R16, R4.ROW, R12.COL, R16
        IMMA.16832.U8.S8 R20, R4.ROW, R12.COL, R20
        @P1 CALL.REL.NOINC 0xc0
        BRA 0x10
        STG.E [R2], R16
        EXIT
        BRA 0xe0
        NOP
"""
USAGE = """
Resource usage:
 Function _Z4tile:
  REG:40 STACK:0 SHARED:4096 LOCAL:0 CONSTANT[0]:400 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
ELF = """
.nv.info._Z4tile
\t<0x14>
\tAttribute:\tEIATTR_MAX_THREADS
\tFormat:\tEIFMT_SVAL
\tValue:\t0x20 0x4 0x1

.text._Z4tile
\tTool Version: Cuda compilation tools, release 13.0, V13.0.88
"""


def listing(code):
    """With addresses, 16 bytes an instruction, as cuobjdump prints them."""
    lines, address = [], 0
    for line in code.strip().splitlines():
        if line.strip().startswith("Function"):
            lines.append(line)
        else:
            lines.append(f"        /*{address:04x}*/   {line.strip()} ;   /* 0x0000000000000000 */")
            address += 16
    return "\n".join(lines)


def figures(code=CODE, usage=USAGE):
    return figures_of("op.tile", "sm_87", sass.functions(listing(code))["_Z4tile"], sass.resources(usage)["_Z4tile"],
                      sass.threads(ELF)["_Z4tile"])


def budget(found, compiler="13.0.88"):
    return {"compiler": compiler, "kernels": {"op.tile": {"sm_87": found}}}


def offences(code=CODE, usage=USAGE, compiler="13.0.88"):
    return list(kernel_budget.compare(budget(figures()), budget(figures(code, usage), compiler)))


class Listings(unittest.TestCase):
    def test_what_is_read(self):
        self.assertEqual(sass.compiler(ELF), "13.0.88")
        self.assertEqual(sass.threads(ELF), {"_Z4tile": 128})
        self.assertEqual(len(sass.functions(listing(CODE))["_Z4tile"]), 14)
        self.assertEqual([target for target, _ in sass.by_target("arch = sm_86\nx\narch = sm_120\ny")],
                         ["sm_86", "sm_120"])

    def test_the_main_loop_is_followed_along_the_fast_way(self):
        main = figures()["main"]
        self.assertEqual(main["tensor"], 2)
        self.assertEqual(main["issued"], 8)  # neither the slow loads nor what is outside
        self.assertEqual((main["load_global_128"], main["load_global_bytes"]), (1, 16))
        self.assertNotIn("load_global_8", main)
        self.assertEqual(figures()["once"]["issued"], 3)
        self.assertEqual(figures()["primary"], "tensor")

    def test_a_loop_inside_is_told_apart(self):
        nested = CODE.replace("BAR.SYNC.DEFER_BLOCKING 0x0", "@P2 BRA 0x60")
        self.assertEqual([loop["issued"] for loop in figures(nested)["inner"]], [1])

    def test_what_the_system_reserves_is_not_the_kernels(self):
        code = sass.functions(listing(CODE))["_Z4tile"]
        usage = {"registers": 40, "stack": 0, "shared": 5120}
        self.assertEqual(figures_of("op.tile", "sm_89", code, usage, 128)["shared"], 5120)
        self.assertEqual(figures_of("op.tile", "sm_120", code, usage, 128)["shared"], 4096)

    def test_names(self):
        self.assertEqual(short_name("void engram::cuda::(anonymous namespace)::many_frames_kernel<8>(int, bool)"),
                         "many_frames<8>")
        self.assertEqual(short_name("engram::cuda::(anonymous namespace)::turn_kernel(float)"), "turn")


class Occupancy(unittest.TestCase):
    def test_each_limit(self):
        self.assertEqual(blocks_per_multiprocessor("sm_87", 128, 32, 0), 12)  # 48 warps
        self.assertEqual(blocks_per_multiprocessor("sm_87", 32, 32, 0), 16)  # blocks
        self.assertEqual(blocks_per_multiprocessor("sm_87", 128, 117, 0), 4)  # registers
        self.assertEqual(blocks_per_multiprocessor("sm_87", 128, 32, 40 << 10), 4)  # shared memory
        self.assertEqual(blocks_per_multiprocessor("sm_89", 128, 32, 40 << 10), 2)
        self.assertEqual(occupancy("sm_87", 128, 117, 0), 33)


class Budget(unittest.TestCase):
    def test_the_same_code_passes(self):
        self.assertEqual(offences(), [])

    def test_spills(self):
        spilled = CODE.replace("LDG.E.U8 R3, [R4+0x1]", "STL [R1], R3")
        self.assertIn("op.tile sm_87: 1 spills", offences(spilled))
        self.assertIn("op.tile sm_87: 1 spills", offences(spilled, compiler="12.6.68"))

    def test_registers_shared_memory_stack_and_occupancy(self):
        more = USAGE.replace("REG:40", "REG:90").replace("STACK:0", "STACK:8").replace("SHARED:4096", "SHARED:9000")
        found = " ".join(offences(usage=more))
        for what in ("registers: 40 before, 90 now", "stack: 0 before, 8 now", "shared: 4096 before, 9000 now",
                     "occupancy: 100 % before, 42 % now"):
            self.assertIn(what, found)
        self.assertEqual(offences(usage=more, compiler="12.6.68"), [])

    def test_fewer_registers_pass(self):
        self.assertEqual(offences(usage=USAGE.replace("REG:40", "REG:32")), [])

    def test_tensor_instructions(self):
        fewer = CODE.replace("IMMA.16832.U8.S8 R20", "IDP.4A.U8.S8 R20")
        none = fewer.replace("IMMA.16832.U8.S8 R16", "IDP.4A.U8.S8 R16")
        self.assertTrue(any("tensor instructions" in line for line in offences(fewer)))
        self.assertEqual(offences(fewer, compiler="12.6.68"), [])
        self.assertTrue(any("are gone" in line for line in offences(none, compiler="12.6.68")))

    def test_more_instructions_for_each_product(self):
        slower = CODE.replace("LDS.64 R12, [R2]", "LDS R12, [R2]\n LDS R13, [R2+0x4]").replace("0xc0", "0xd0")
        self.assertTrue(any("for each tensor" in line for line in offences(slower)), offences(slower))

    def changed(self, part, **counts):
        """Offences of the same kernel with other counts in one part; `around` has a loop for this."""
        had = json.loads(json.dumps(figures()))
        had["around"] = dict(had["main"])
        had["once"] = dict(had["main"], issued=had["once"]["issued"])
        has = json.loads(json.dumps(had))
        has[part].update(counts)
        self.assertEqual(list(kernel_budget.compare(budget(had), budget(had))), [])
        return " ".join(kernel_budget.compare(budget(had), budget(has)))

    def test_bytes_that_are_moved(self):
        for part, where in (("main", "the main loop for each tensor"), ("around", "the loops around it for each tensor"),
                            ("once", "what is done once")):
            for move in kernel_budget.MOVES:
                moved = figures()["main"].get(f"{move}_bytes", 0)
                found = self.changed(part, **{f"{move}_bytes": 4 * moved + 16})
                self.assertIn(f"bytes of {move} of {where}: ", found)
                self.assertEqual(self.changed(part, **{f"{move}_bytes": moved}), "")

    def test_wide_accesses(self):
        for part in ("main", "around", "once"):
            narrow = self.changed(part, load_global_128=0, load_global_64=2)
            self.assertIn("bytes of load_global by 128 bits of", narrow)
            self.assertNotIn("by 64 bits", narrow)
            self.assertIn("bytes of load_global by 64 bits of", self.changed(part, load_global_128=0))
            self.assertIn("bytes of load_shared by 64 bits of", self.changed(part, load_shared_64=0))
            self.assertEqual(self.changed(part, load_shared_64=0, load_shared_128=1), "")  # wider than before

    def test_instructions_of_every_part(self):
        for part in ("main", "around", "once", "mix"):
            issued = figures()[part]["issued"] if part != "around" else figures()["main"]["issued"]
            self.assertIn("instructions of ", self.changed(part, issued=3 * issued))
            self.assertEqual(self.changed(part, issued=issued - 1), "")
        self.assertIn("instructions of all ways: 14.00 before, 42.00 now", self.changed("mix", issued=42))

    def test_a_kernel_without_a_loop_is_held_too(self):
        straight = {key: value for key, value in figures().items() if key not in ("main", "primary")}
        more = json.loads(json.dumps(straight))
        more["once"]["load_global_bytes"] = 64
        more["mix"]["issued"] *= 3
        found = list(kernel_budget.compare(budget(straight), budget(more)))
        self.assertEqual(list(kernel_budget.compare(budget(straight), budget(straight))), [])
        self.assertEqual(len(found), 2, found)

    def test_kernels_without_a_budget_and_kernels_that_vanished(self):
        nothing = {"compiler": "13.0.88", "kernels": {}}
        self.assertEqual(list(kernel_budget.compare(nothing, budget(figures()))), ["op.tile sm_87: has no budget"])
        self.assertEqual(list(kernel_budget.compare(budget(figures()), nothing)), ["op.tile sm_87: was not compiled"])

    def test_the_file_gives_back_what_was_written(self):
        found = budget(figures())
        self.assertEqual(json.loads(kernel_budget.as_text(found)), found)


    def test_the_table_has_a_row_for_each_kernel_and_target_and_names_the_rungs(self):
        lines = list(kernel_budget.table(budget(figures())))
        rows = [line for line in lines if line.startswith("|")]
        self.assertEqual(len(rows), 3)
        self.assertEqual({row.count("|") for row in rows}, {rows[0].count("|")})
        self.assertIn("| rung tried |", rows[0])
        self.assertIn("| op.tile | sm_87 | 4 |", rows[2])
        self.assertIn("Nothing has reached 5", lines[-1])
        self.assertIn("whether it passed, that tier says", lines[-1])


class CheckedIn(unittest.TestCase):
    """kernels/budget.json itself: every kernel of every target, without spills."""

    def test_it_is_within_itself_and_every_kernel_of_it_is_held(self):
        path = pathlib.Path(__file__).parent.parent / "kernels" / "budget.json"
        whole = json.loads(path.read_text())
        self.assertEqual(list(kernel_budget.compare(whole, whole)), [])
        heavy = json.loads(path.read_text())
        for targets in heavy["kernels"].values():
            for found in targets.values():
                for counts in (found["mix"], found["once"], found.get("around", {}), found.get("main", {})):
                    counts.update({key: 4 * n for key, n in counts.items() if key.endswith("_bytes")})
                found["mix"]["issued"] *= 3
        found = list(kernel_budget.compare(whole, heavy))
        for kernel, targets in whole["kernels"].items():
            for target in targets:
                self.assertTrue(any(line.startswith(f"{kernel} {target}: bytes of") for line in found), kernel)
                self.assertTrue(any(line.startswith(f"{kernel} {target}: instructions of all ways") for line in found))

    def test_no_spills_and_tensor_instructions_where_they_belong(self):
        path = pathlib.Path(__file__).parent.parent / "kernels" / "budget.json"
        kernels = json.loads(path.read_text())["kernels"]
        for name, targets in kernels.items():
            self.assertEqual(set(targets), {"sm_86", "sm_87", "sm_89", "sm_110", "sm_120"}, name)
            for target, found in targets.items():
                self.assertEqual((found["spills"], found["stack"]), (0, 0), f"{name} {target}")
        for name in ("gram_update.gram_update", "sign_project.many_frames<8>", "kernel_rows.kernel_rows<4>"):
            for found in kernels[name].values():
                self.assertGreater(found["main"]["tensor"], 0)


if __name__ == "__main__":
    unittest.main()
