"""PTX, the text that numba-cuda makes of a kernel, as C: so kernels can be played where there is no GPU.

Every instruction is one statement of C (`ptx_instructions`). Threads keep to warps of 32 as on a GPU: in each step
those threads of a warp whose place in the text is the lowest play their block, up to the next branch, and the others
wait. What is played is counted: the blocks that warps went through, and how many threads took part. Time is not:
memory, caches and how long an instruction takes are no part of this.

Numbers come out as on a GPU wherever the text decides, such as where a product and a sum are rounded once. Approximate
reciprocals, which the text itself refines, may differ in their last bits.
"""

import re
from collections.abc import Iterator

from ptx_instructions import HELPERS, TYPES, Names, UnknownInstruction, instruction, plain, split

WARP = 32  # threads
PRELUDE = """
#include <stdint.h>
#include <string.h>
#include <tgmath.h>

enum { WARP = 32, N_BLOCKS = COUNT };
typedef union { MEMBERS } Register;
"""
LANE = """
typedef struct {
  Register r[REGISTERS];
  uint32_t thread, block, blocks;
  int at;
  char room[ROOM] __attribute__((aligned(16)));
} Lane;
"""
BLOCK = """
static int block_NUMBER(Lane *lane, char *const *given) {
  Register *const r = lane->r; char *const room = lane->room; uint64_t carry = 0;
#define GO(number) return number
#define END return N_BLOCKS
  LINES
  return NUMBER + 1;
#undef GO
#undef END
}
"""
FUNCTION = """
static void NAME(char *const *given, char *result) {
  Register r[REGISTERS]; char room[ROOM] __attribute__((aligned(16))); uint64_t carry = 0;
#define GO(number) goto label_##number
#define END return
  LINES
#undef GO
#undef END
}
"""
PLAY = """
uint64_t steps[N_BLOCKS], threads[N_BLOCKS];
static int (*const block[N_BLOCKS])(Lane *, char *const *) = {BLOCKS};

void play(char *const *given, int n_warps) {
  static Lane lanes[WARP];
  for (int warp = 0; warp < n_warps; warp++) {
    for (int i = 0; i < WARP; i++)
      lanes[i].at = 0, lanes[i].thread = i, lanes[i].block = warp, lanes[i].blocks = n_warps;
    for (;;) {
      int at = N_BLOCKS;
      for (int i = 0; i < WARP; i++) if (lanes[i].at < at) at = lanes[i].at;
      if (at == N_BLOCKS) break;
      steps[at]++;
      for (int i = 0; i < WARP; i++)
        if (lanes[i].at == at) { threads[at]++; lanes[i].at = block[at](&lanes[i], given); }
    }
  }
}
"""


def as_c(text: str) -> tuple[str, int, list[int]]:
    """Return a text of PTX with one kernel as C, how many parameters the kernel has, and how long its blocks are.

    Its `play` takes where each parameter is, and the number of warps; `steps` and `threads` count for each block.
    """
    text = re.sub(r"//.*", "", text)
    tables = dict(_tables(text))
    routines = [_Routine(head, body, set(tables)) for head, body in _bodies(text)]
    kernel = next(each for each in routines if each.is_kernel)
    functions = [each for each in routines if not each.is_kernel]
    members = " ".join(f"{cls} {name};" for name, cls in TYPES.items())
    blocks = ", ".join(f"block_{number}" for number in range(len(kernel.blocks)))
    code = [
        PRELUDE.replace("COUNT", str(len(kernel.blocks))).replace("MEMBERS", members),
        *(HELPERS, kernel.sized(LANE)),
        *tables.values(),
        *(f"static void {each.name}(char *const *given, char *result);" for each in functions),
        *(each.as_function() for each in functions),
        *kernel.as_blocks(),
        PLAY.replace("BLOCKS}", f"{blocks}}}"),
    ]
    return "\n".join(code), kernel.n_parameters, kernel.lengths


def _tables(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of constant arrays and numbers, and these as C."""
    what, values = r"\.align\s+(\d+)\s+\.(\w+)\s+([^\s\[;]+)(?:\[(\d+)\])?", r"(?:\s*=\s*\{?([^;}]*)\}?)?;"
    pattern = r"^\.(?:\w+ \.)*(?:global|const)\s+" + what + values
    for align, kind, name, size, content in re.findall(pattern, text, re.MULTILINE):
        begun = f" = {{{content}}}" if content else ""
        yield name, f"static {TYPES[kind]} {plain(name)}[{size or 1}] __attribute__((aligned({align}))){begun};"


def _bodies(text: str) -> Iterator[tuple[str, str]]:
    """Yield head and body of every function that has a body."""
    for head in re.finditer(r"^(?:\.visible |\.weak )?\.(?:entry|func)\b[^{;]*\{", text, re.MULTILINE):
        end, depth = head.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield head[0], text[head.end() : end - 1]


def _statements(body: str) -> Iterator[str]:
    """Yield labels, braces of scopes, and statements, some of which take several lines."""
    waiting = ""
    for line in map(str.strip, body.split("\n")):
        if not waiting and (line in ("{", "}") or line.endswith(":")):
            yield line
        elif line:
            waiting = f"{waiting} {line}".strip()
            if waiting.endswith(";"):
                yield waiting.removesuffix(";").strip()
                waiting = ""


class _Routine:
    """A kernel, or a function that it calls: statements of C, in blocks that a branch may lead to."""

    def __init__(self, head: str, body: str, tables: set[str]) -> None:
        match = re.search(r"\.(entry|func)\s*(?:\(([^)]*)\))?\s*([^\s(]+)\s*\(([^)]*)\)", head)
        if match is None:
            raise UnknownInstruction(head)
        kind, result, name, parameters = match.groups()
        self.name, self.is_kernel = plain(name), kind == "entry"
        given = [_name_of(each) for each in parameters.split(",") if each.strip()]
        self.n_parameters = len(given)
        memory = {name: f"given[{place}]" for place, name in enumerate(given)}
        self._names = Names(memory | ({_name_of(result): "result"} if result else {}), tables)
        self._room = 0  # bytes of memory that are a thread's own
        self.blocks: list[list[str]] = [[]]
        self.lengths = [0]
        labels: dict[str, int] = {}
        for statement in _statements(body):
            if statement.endswith(":"):
                self._begin_block()
                labels[statement[:-1]] = len(self.blocks) - 1
            else:
                self._add(statement)
        for block in self.blocks:
            block[:] = [re.sub(r"GO\((\S+?)\)", lambda goal: f"GO({labels[goal[1]]})", line) for line in block]

    def sized(self, code: str) -> str:
        """Fill in how many registers there are, and how much memory."""
        n_registers = len(self._names.registers) + 1
        return code.replace("REGISTERS", str(n_registers)).replace("ROOM", str(self._room + 16))

    def as_blocks(self) -> Iterator[str]:
        """Yield each block as a function that returns which one is next."""
        for number, block in enumerate(self.blocks):
            yield BLOCK.replace("NUMBER", str(number)).replace("LINES", "\n  ".join(block))

    def as_function(self) -> str:
        """Return the whole as a function that others call."""
        lines = [f"label_{number}:;\n  " + "\n  ".join(block) for number, block in enumerate(self.blocks)]
        return self.sized(FUNCTION.replace("NAME", self.name)).replace("LINES", "\n  ".join(lines))

    def _begin_block(self) -> None:
        self.blocks.append([])
        self.lengths.append(0)

    def _add(self, statement: str) -> None:
        """Add a statement of the text, in C."""
        if statement == "{":
            self._names.scopes.append({})
            self.blocks[-1].append("{")
        elif statement == "}":
            self._names.scopes.pop()
            self.blocks[-1].append("}")
        elif statement.startswith("."):
            self._declare(statement)
        else:
            self._add_instruction(statement)

    def _declare(self, statement: str) -> None:
        what, *words = statement.replace(",", " ").split()
        scopes = self._names.scopes
        if what == ".local":
            self._room = int(words[-1].partition("[")[2].rstrip("]"))
        elif what == ".param":  # of a call
            name, _, size = words[-1].partition("[")
            scopes[-1][name] = name
            self.blocks[-1].append(f"char {name}[{size.rstrip(']') or 8}] __attribute__((aligned(8)));")
        elif what == ".reg" and scopes:
            for name in words[1:]:
                scopes[-1][name] = plain(name)
                self.blocks[-1].append(f"Register {plain(name)};")

    def _add_instruction(self, statement: str) -> None:
        match = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*)", statement)
        if match is None:
            raise UnknownInstruction(statement)
        negated, predicate, name, arguments = match.groups()
        condition = f"if ({negated}{self._names.operand(predicate, 'pred')}) " if predicate else ""
        try:
            self.blocks[-1].append(condition + instruction(self._names, name, split(arguments)))
        except (LookupError, ValueError, TypeError, UnknownInstruction) as error:
            raise UnknownInstruction(statement) from error
        self.lengths[-1] += 1
        if name.partition(".")[0] in ("bra", "ret"):
            self._begin_block()


def _name_of(parameter: str) -> str:
    return parameter.split()[-1].partition("[")[0]
