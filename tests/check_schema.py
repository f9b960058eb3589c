#!/usr/bin/env python3
"""Does a report.json fit its JSON Schema?  check_schema.py SCHEMA DOCUMENT

Prints every mismatch with its path and ends with 1; with 77 when python3-jsonschema is absent.
"""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(77)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    Draft202012Validator.check_schema(schema)
    errors = list(Draft202012Validator(schema).iter_errors(document))
    for error in errors:
        print(f"{error.json_path}: {error.message}")
    return 1 if errors else 0


sys.exit(main())
