"""The method bridge for GPUs: kernels call the methods of named tuples, as other compiled code does."""

import inspect
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

from corebandit.compiled.optional_methods import teach_optional_methods


def teach_methods(module: Any) -> None:
    """Let kernels call methods by their types, as the bridge does for other compiled code."""
    # Imported by name, since numba's own older module for GPUs has none of this, and type checkers see that one.
    extending: Any = import_module("numba.cuda.extending")
    types: Any = import_module("numba.cuda.types")
    templates: Any = import_module("numba.cuda.typing.templates")
    declarations: Any = import_module("numba.cuda.cudadecl").registry
    implementations: Any = import_module("numba.cuda.cudaimpl").registry

    @cache
    def method_of(cls: type, name: str) -> Any:
        method = module.jit(device=True, forceinline=True)(getattr(cls, name))

        class Method(templates.AbstractTemplate):
            key = ("cuda", cls, name)  # else numba takes it for the one of the bridge, by its key

            def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
                return types.Dispatcher(method).get_call_type(self.context, (self.this, *args), kws).as_method()

        @implementations.lower(Method.key, types.BaseNamedTuple, types.VarArg(types.Any))
        def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.get_function(types.Dispatcher(method), signature)(builder, args)

        return Method

    @declarations.register_attr
    class Methods(templates.AttributeTemplate):
        key = types.BaseNamedTuple

        def generic_resolve(self, instance: Any, name: str) -> Any:
            cls = instance.instance_class
            if name in instance.fields or not isinstance(inspect.getattr_static(cls, name, None), FunctionType):
                return None
            return types.BoundFunction(method_of(cls, name), instance)

    teach_optional_methods(extending.overload)
