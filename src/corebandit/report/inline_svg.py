"""Turn an SVG file into an element that can stand in an HTML page next to others."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

_REFERENCE = re.compile(r"url\(#([^)]+)\)|^#(.+)$")


def inline(text: str, prefix: str, title: str, variables: Mapping[str, str]) -> str:
    """Return the `<svg>` element of a file, fit for HTML.

    Its ids start with `prefix`, its colours listed in `variables` can be set by the page (colour to CSS variable), it
    has no style sheet (which would apply to the whole page), no namespaces and no fixed size. A figure without `title`
    is decoration and hidden from screen readers.
    """
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("style", "metadata"):
                parent.remove(child)
    elements = list(root.iter())
    for element in elements:
        element.tag = _local(element.tag)
        element.attrib = {_local(name): _with_variables(value, variables) for name, value in element.items()}
    _rename_ids(elements, prefix)
    # What the style sheet said about line ends is inherited from the root instead.
    root.attrib = {"viewBox": root.attrib["viewBox"], "stroke-linejoin": "round", "stroke-linecap": "butt"}
    root.attrib |= {"role": "img", "aria-label": title} if title else {"aria-hidden": "true"}
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _with_variables(value: str, variables: Mapping[str, str]) -> str:
    for colour, variable in variables.items():
        value = value.replace(colour, f"var({variable}, {colour})")
    return value


def _rename_ids(elements: list[ElementTree.Element], prefix: str) -> None:
    """Give ids that are referred to new names, and drop the others."""
    referred = (
        match[1] or match[2]
        for element in elements
        for value in element.attrib.values()
        for match in _REFERENCE.finditer(value)
    )
    names = {old: f"{prefix}-{index}" for index, old in enumerate(dict.fromkeys(referred))}
    for element in elements:
        if (old := element.attrib.pop("id", None)) in names:
            element.set("id", names[old])
        for attribute, value in element.items():
            if match := _REFERENCE.search(value):
                old = match[1] or match[2]
                element.set(attribute, value.replace(f"#{old}", f"#{names[old]}"))
