#!/usr/bin/env python3
"""models.py SCHEMA: the Python module that holds report.json as dataclasses, from its schema."""

import json
import keyword
import sys

HEAD = '''"""report.json of rooflint %s as dataclasses; docs/report.schema.json says what each field is.

Made from that schema by packaging/python/models.py.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Literal, Mapping, Optional, Sequence, Union

'''

TABLE = '''
@dataclasses.dataclass(frozen=True)
class Table:
    """What a page may plot of a table: columns of `rows` values; `total` rows there were."""

    total: int
    rows: int
    columns: Mapping[str, Sequence[Any]]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row as a dictionary."""
        for i in range(self.rows):
            yield {name: values[i] for name, values in self.columns.items()}

'''

SCALARS = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def is_table(schema):
    return set(schema.get("properties", ())) == {"total", "rows", "columns"}


class Module:
    def __init__(self, schema):
        self.defs = schema["$defs"]
        self.classes = {}  # name -> text, in the order in which they can be defined

    def type_of(self, schema, name):
        """The annotation, and what builds the value from JSON (None: it is taken as it is)."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return self.type_of(self.defs[name], name)
        if "anyOf" in schema:
            [other] = [s for s in schema["anyOf"] if s.get("type") != "null"]
            annotation, build = self.type_of(other, name)
            return "Optional[%s]" % annotation, build and "None if {0} is None else " + build
        if "enum" in schema:
            words = [w for w in schema["enum"] if w is not None]
            literal = "Literal[%s]" % ", ".join(map(json.dumps, words))
            return ("Optional[%s]" % literal if None in schema["enum"] else literal), None
        kind = schema["type"]
        if isinstance(kind, list):
            words = [SCALARS[k] for k in kind if k != "null"]
            return "Optional[%s]" % (words[0] if len(words) == 1 else
                                     "Union[%s]" % ", ".join(words)), None
        if kind == "array":
            annotation, build = self.type_of(schema["items"], name)
            if build:
                return "tuple[%s, ...]" % annotation, "tuple(%s for v in {0})" % build.format("v")
            return "tuple[%s, ...]" % annotation, "tuple({0})"
        if kind != "object":
            return SCALARS[kind], None
        if is_table(schema):
            return "Table", "Table(**{0})"
        tables = schema["properties"]
        if tables and all(is_table(s) for s in tables.values()):
            return "Mapping[str, Table]", "{{k: Table(**t) for k, t in {0}.items()}}"
        class_name = "".join(part.capitalize() for part in name.split("_"))
        self.add(class_name, schema)
        return class_name, class_name + ".from_json({0})"

    def add(self, name, schema):
        if name in self.classes:
            return
        self.classes[name] = ""  # stands before what it refers to only while that is found
        fields, builds = [], []
        for key, field in schema["properties"].items():
            attribute = key + "_" if keyword.iskeyword(key) else key
            annotation, build = self.type_of(field, key)
            fields.append("    %s: %s\n" % (attribute, annotation))
            value = "data[%r]" % key
            if key not in schema.get("required", ()):
                value = "data.get(%r)" % key
                if build:
                    build = "None if %s is None else " % value + build
                if not annotation.startswith("Optional"):
                    fields[-1] = "    %s: Optional[%s]\n" % (attribute, annotation)
            builds.append("            %s=%s,\n" %
                          (attribute, build.format(value) if build else value))
        del self.classes[name]
        self.classes[name] = '''
@dataclasses.dataclass(frozen=True)
class %s:
    """%s"""

%s
    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> %s:
        return cls(
%s        )

''' % (name, schema.get("description", name), "".join(fields), name, "".join(builds))


def main(path):
    with open(path, encoding="utf-8") as f:
        schema = json.load(f)
    module = Module(schema)
    module.add("Document", schema)
    sys.stdout.write(HEAD % schema["$id"].rsplit(":", 1)[1] + TABLE +
                     "".join(module.classes.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
