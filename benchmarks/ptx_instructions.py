"""Single instructions of PTX as statements of C: those that our kernels have, and an error for any other."""

import re
from collections.abc import Sequence

TYPES = {
    "pred": "uint8_t",
    **{f"{kind}{bits}": f"{'int' if kind == 's' else 'uint'}{bits}_t" for kind in "bus" for bits in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
}
HELPERS = """
static double as_f64(uint64_t bits) { double value; memcpy(&value, &bits, 8); return value; }
static float as_f32(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
static double upper_half(double value) { uint64_t bits; memcpy(&bits, &value, 8); return as_f64(bits >> 32 << 32); }
static uint32_t high_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b >> 32; }
static uint64_t high_u64(uint64_t a, uint64_t b) { return (unsigned __int128)a * b >> 64; }
static int64_t high_s64(int64_t a, int64_t b) { return (__int128)a * b >> 64; }
static int32_t to_s32(double v) { return v >= 0x1p31 ? INT32_MAX : v > -0x1p31 ? (int32_t)v : INT32_MIN; }
static int64_t to_s64(double v) { return v >= 0x1p63 ? INT64_MAX : v > -0x1p63 ? (int64_t)v : INT64_MIN; }
static uint64_t to_u64(double v) { return v >= 0x1p64 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0; }
"""

# What an instruction makes of its operands, all of them of the instruction's own type.
VALUES = {
    "mov": "{0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "div": "{0} / {1}",
    "rem": "{0} % {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "neg": "-{0}",
    "fma": "fma({0}, {1}, {2})",
    "mul": "{0} * {1}",
    "mul.hi": "high_{type}({0}, {1})",
    "mad.lo": "{0} * {1} + {2}",
    "sqrt": "sqrt({0})",
    "rcp.rn": "1.0 / {0}",
    "rcp.approx": "upper_half(1.0 / {0})",
    "rsqrt.approx": "upper_half(1.0 / sqrt({0}))",
    "copysign": "copysign({1}, {0})",
}
OF_FLOATS = {"abs": "fabs({0})", "min": "fmin({0}, {1})", "max": "fmax({0}, {1})"}
OF_NUMBERS = {"abs": "({0} < 0 ? -{0} : {0})", "min": "({0} < {1} ? {0} : {1})", "max": "({0} > {1} ? {0} : {1})"}
COMPARED = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
OR_NAN = {"neu": "==", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}  # true unless this is
ROUNDED = {"rzi": "trunc", "rni": "rint", "rmi": "floor", "rpi": "ceil"}
NEVER_SEEN = {"rz", "rm", "rp"}  # ways to round
SPECIAL = {"%tid": "lane->thread", "%ntid": "WARP", "%ctaid": "lane->block", "%nctaid": "lane->blocks"}


class UnknownInstruction(Exception):
    """The text has something that no kernel of ours had so far; the message says what."""


def plain(name: str) -> str:
    """Return a name as C allows it."""
    return re.sub(r"\W", "_", name.replace("$", "_S_"))


def split(arguments: str) -> list[str]:
    """Split at commas that are not in brackets."""
    return [part.strip() for part in re.split(r",(?![^{(\[]*[})\]])", arguments)] if arguments else []


class Names:
    """What the names in a routine stand for."""

    def __init__(self, memory: dict[str, str], tables: set[str]) -> None:
        self.registers: dict[str, int] = {}
        self.scopes: list[dict[str, str]] = []  # of names that a few statements have for themselves
        self._memory, self._tables = memory, tables

    def register(self, name: str) -> str:
        """Return a register."""
        own = self._own(name)
        return own if own is not None else f"r[{self.registers.setdefault(name, len(self.registers))}]"

    def operand(self, name: str, kind: str) -> str:
        """Return a register, a number or an address, as a value of this type."""
        special = name.partition(".")[0]
        if special in SPECIAL:
            return f"(({TYPES[kind]}){SPECIAL[special]})"
        if name[0] == "%" or self._own(name) is not None:
            return f"{self.register(name)}.{kind}"
        if name[:2] == "0d":
            return f"as_f64(0x{name[2:]}ull)"
        if name[:2] == "0f":
            return f"as_f32(0x{name[2:]}u)"
        if name.lstrip("-").isdigit():
            return f"(({TYPES[kind]}){name}ull)"
        if name.startswith("__local_depot"):
            return "((uint64_t)room)"
        if name in self._tables:
            return f"((uint64_t){plain(name)})"
        raise UnknownInstruction(name)

    def place(self, address: str, kind: str) -> str:
        """Return what is at an address, as something of this type that can be read and written."""
        base, _, offset = address.strip("[]").partition("+")
        memory = self._memory.get(base) or (None if base[0] == "%" else self._own(base))
        return f"*({TYPES[kind]} *)({memory or self.operand(base, 'u64')} + {offset or 0})"

    def _own(self, name: str) -> str | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)


def instruction(names: Names, name: str, arguments: Sequence[str]) -> str:
    """Return an instruction as a statement of C, or raise UnknownInstruction."""
    parts = name.split(".")
    operation, kind = parts[0], parts[-1]
    if not NEVER_SEEN.isdisjoint(parts):
        raise UnknownInstruction(name)
    if operation == "bra":
        return f"GO({arguments[0]});"
    if operation == "ret":
        return "END;"
    if operation == "call":
        result, called, given = arguments
        return f"{plain(called)}((char *[]){{{given.strip('()')}}}, {result.strip('()')});"
    if operation == "ld":
        return _moved(names, kind, arguments[0], arguments[1], is_read=True)
    if operation == "st":
        return _moved(names, kind, arguments[1], arguments[0], is_read=False)
    if operation == "mov" and "{" in arguments[1]:
        return _put_together(names, kind, *arguments)
    if operation == "mov" and "{" in arguments[0]:
        return _taken_apart(names, kind, *arguments)
    if operation in ("addc", "subc", "madc") or "cc" in parts:
        return _with_carry(names, parts, arguments)
    to, of = _types(parts)
    # What is added to a wide product is as wide.
    kinds = [to if place > 1 and "wide" in parts else of for place in range(len(arguments) - 1)]
    operands = list(map(names.operand, arguments[1:], kinds))
    if operation == "setp":
        value = _compared(parts, operands)
        if parts[2] in ("and", "or", "xor"):
            value = f"({value}) {VALUES[parts[2]].format('', names.operand(arguments[3], 'pred'))}"
    elif operation == "cvt":
        value = _converted(parts, operands[0])
    elif operation == "selp":
        value = f"{names.operand(arguments[3], 'pred')} ? {operands[0]} : {operands[1]}"
    elif operation in ("shl", "shr"):
        value = _shifted(operation, kind, operands[0], names.operand(arguments[2], "u32"))
    else:
        value = _value(parts, operands)
    return f"{names.operand(arguments[0], to)} = {value};"


def _types(parts: Sequence[str]) -> tuple[str, str]:
    """Return the types of an instruction's result and of its operands."""
    operation, kind = parts[0], parts[-1]
    if operation == "cvt":
        to = parts[-2]
        return to[0] + "64" if to[1:] in ("8", "16") else to, kind  # registers that keep so few bits are wider
    if "wide" in parts:
        return f"{kind[0]}{2 * int(kind[1:])}", kind
    return {"setp": "pred", "popc": "u32", "clz": "u32"}.get(operation, kind), kind


def _value(parts: Sequence[str], operands: Sequence[str]) -> str:
    operation, kind = parts[0], parts[-1]
    if operation == "cvta":
        return operands[0]
    if operation == "not":
        return f"{'!' if kind == 'pred' else '~'}{operands[0]}"
    if operation == "popc":
        return f"__builtin_popcountll({operands[0]})"
    if operation == "clz":
        return f"({operands[0]} ? __builtin_clzll({operands[0]}) - {64 - int(kind[1:])} : {kind[1:]})"
    if "wide" in parts:
        wide = TYPES[_types(parts)[0]]
        return f"({wide}){operands[0]} * ({wide}){operands[1]}" + "".join(f" + {each}" for each in operands[2:])
    special = OF_FLOATS if kind[0] == "f" else OF_NUMBERS
    value = special.get(operation) or VALUES.get(".".join(parts[:2])) or VALUES.get(operation)
    if value is None:
        raise UnknownInstruction(".".join(parts))
    return value.format(*operands, type=kind)


def _moved(names: Names, kind: str, registers: str, address: str, *, is_read: bool) -> str:
    """Read from memory or write to it, up to four registers at once."""
    lines = []
    for number, register in enumerate(split(registers.strip("{}"))):
        place = f"(&{names.place(address, kind)})[{number}]"
        if is_read:
            wide = kind[0] + "64" if kind[1:] in ("8", "16") else kind
            lines.append(f"{names.operand(register, wide)} = {place};")
        else:
            lines.append(f"{place} = {names.operand(register, kind)};")
    return f"{{ {' '.join(lines)} }}"


def _put_together(names: Names, kind: str, to: str, halves: str) -> str:
    half = f"b{int(kind[1:]) // 2}"
    low, high = (names.operand(each, half) for each in split(halves.strip("{}")))
    return f"{names.operand(to, kind)} = {low} | ({TYPES[kind]}){high} << {half[1:]};"


def _taken_apart(names: Names, kind: str, halves: str, whole: str) -> str:
    half = f"b{int(kind[1:]) // 2}"
    low, high = (names.operand(each, half) for each in split(halves.strip("{}")))
    return f"{{ {TYPES[kind]} whole = {names.operand(whole, kind)}; {low} = whole; {high} = whole >> {half[1:]}; }}"


def _compared(parts: Sequence[str], operands: Sequence[str]) -> str:
    how, (one, other) = parts[1], operands[:2]
    if how in COMPARED:
        return f"{one} {COMPARED[how]} {other}"
    if how in OR_NAN:
        return f"!({one} {OR_NAN[how]} {other})"
    if how in ("ne", "equ"):  # of floats: neither is NaN, or one is
        differ = f"({one} < {other} || {one} > {other})"
        return differ if how == "ne" else f"!{differ}"
    if how in ("num", "nan"):
        return f"{'!' if how == 'nan' else ''}({one} == {one} && {other} == {other})"
    raise UnknownInstruction(".".join(parts))


def _converted(parts: Sequence[str], value: str) -> str:
    to, kind = parts[-2:]
    if parts[1] == "sat":
        if to != kind or kind[0] != "f":
            raise UnknownInstruction(".".join(parts))
        return f"fmin(fmax({value}, 0), 1)"  # 0 for NaN
    if parts[1] not in ROUNDED:
        return f"({TYPES[to]}){value}"
    if to not in ("s32", "s64", "u64", kind):
        raise UnknownInstruction(".".join(parts))
    rounded = f"{ROUNDED[parts[1]]}({value})"
    return rounded if to == kind else f"to_{to}({rounded})"


def _shifted(operation: str, kind: str, value: str, by: str) -> str:
    sign, bits = {"shl": "<<", "shr": ">>"}[operation], int(kind[1:])
    beyond = f"{value} >> {bits - 1}" if operation == "shr" and kind[0] == "s" else "0"
    return f"{by} < {bits} ? {value} {sign} {by} : {beyond}"


def _with_carry(names: Names, parts: Sequence[str], arguments: Sequence[str]) -> str:
    """Add, subtract, or multiply and add, in words of 32 bits that make up longer numbers."""
    operation, kind = parts[0], parts[-1]
    if operation not in ("add", "addc", "sub", "subc", "mad", "madc") or kind != "u32":
        raise UnknownInstruction(".".join(parts))
    to, *operands, last = (names.operand(each, kind) for each in arguments)
    total = " * ".join(f"(uint64_t){each}" for each in operands)
    if operation.startswith("mad"):
        total = f"({total}) >> 32" if parts[1] == "hi" else f"(uint32_t)({total})"
    sign = "-" if operation.startswith("sub") else "+"
    carried = f" {sign} carry" if operation.endswith("c") else ""
    keep = " carry = total >> 32 & 1;" if "cc" in parts else ""
    return f"{{ uint64_t total = ({total}) {sign} {last}{carried}; {to} = total;{keep} }}"
