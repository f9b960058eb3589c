"""Scenarios made from other scenarios.

extends = "train-scan"      # the file beside this one
[timing]                    # tables are merged, anything else replaces
[change.layers]             # of the param or op with this name, however deep
kind = "unrolled"
[change.adam]
drop = true
[[change.loss.before]]      # ops in front of it, or behind it with `after`
name = "norm"
"""

import os
import tomllib


def load(path):
    """The TOML of a scenario with what it extends merged in."""
    with open(path, "rb") as file:
        spec = tomllib.load(file)
    changes = spec.pop("change", {})
    if "extends" in spec:
        base = os.path.join(os.path.dirname(path), spec.pop("extends") + ".toml")
        spec = merged(load(base), spec)
    return changed(spec, changes, path)


def changed(spec, changes, path="change"):
    """The same with `changes` to its ops and params, by name."""
    for name, change in changes.items():
        if not sum(_change(program, name, change) for program in programs(spec)):
            raise ValueError(f"{path}: nothing is called {name!r}")
    return spec


def programs(spec):
    return spec["program"] if isinstance(spec["program"], list) else [spec["program"]]


def merged(base, top):
    """base with top's values; tables are merged key by key."""
    out = dict(base)
    for key, value in top.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merged(out[key], value) if both else value
    return out


def _change(spec, name, change):
    """Apply a change to all params and ops of that name; how many there were."""
    count = 0
    before, after = change.get("before", []), change.get("after", [])
    fields = {k: v for k, v in change.items() if k not in ("before", "after")}
    for kind in ("param", "op"):
        items = []
        for item in spec.get(kind, []):
            found = item["name"] == name
            if found:
                item.update(fields)
                count += 1
            count += _change(item, name, change)
            items += [*before, item, *after] if found else [item]
        if kind in spec:
            spec[kind] = [item for item in items if not item.get("drop")]
    return count
