"""Tables that compiled code looks things up in, such as those of samplers, on a GPU."""

from importlib import import_module
from typing import Any


def keep_tables_in_global_memory() -> None:
    """Let numba-cuda put constant arrays into global memory, which has a cache, instead of constant memory.

    Constant memory serves one place at a time, so that threads which look up different places wait for each other:
    Thompson sampling spent 85 % of its time on that.
    """
    target: Any = import_module("numba.cuda.target")
    nvvm, context = target.nvvm, target.CUDATargetContext
    in_constant_memory = context.make_constant_array

    def in_global_memory(self: Any, builder: Any, kind: Any, array: Any) -> Any:
        constant = nvvm.ADDRSPACE_CONSTANT
        nvvm.ADDRSPACE_CONSTANT = nvvm.ADDRSPACE_GLOBAL
        try:
            return in_constant_memory(self, builder, kind, array)
        finally:
            nvvm.ADDRSPACE_CONSTANT = constant

    context.make_constant_array = in_global_memory
