"""The JSON Schema of rule files, as an editor uses it: what loads fits, and mistakes do not."""
import copy
import glob
import json
import os
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
EVERY = os.path.join(HERE, "../golden/rules-show/every.yaml")

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None


def core_loader():
    """YAML 1.2, as editors read it: 'off' is a word and 2030-01-31 is no date."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in resolvers if not tag.endswith(":timestamp")
                and not (tag.endswith(":bool") and first not in "tf")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, core_loader())


def schema_of(*words):
    out = subprocess.run([ROOFLINT, "rules", "schema", *words], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


@unittest.skipIf(jsonschema is None, "needs jsonschema and PyYAML")
class Schema(unittest.TestCase):
    def setUp(self):
        self.schema = schema_of("recommended")
        jsonschema.Draft202012Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft202012Validator(self.schema)

    def errors(self, document):
        return [f"{e.json_path}: {e.message}" for e in self.validator.iter_errors(document)]

    def test_what_loads_fits(self):
        paths = glob.glob(os.path.join(HERE, "../../rules/*.yaml"))
        paths = [path for path in paths if not path.endswith(".test.yaml")]
        self.assertGreaterEqual(len(paths), 3)
        for path in [*paths, EVERY]:
            self.assertEqual(self.errors(load(path)), [], path)

    def test_what_was_resolved_fits(self):
        shown = subprocess.run([ROOFLINT, "rules", "show", EVERY], stdout=subprocess.PIPE, check=True)
        self.assertEqual(self.errors(yaml.load(shown.stdout, core_loader())), [])

    def test_mistakes_do_not(self):
        good = load(EVERY)

        def spoiled(change):
            document = copy.deepcopy(good)
            change(document)
            return document

        for change in (
            lambda d: d.pop("version"),
            lambda d: d.update(version=2),
            lambda d: d.update(rule={}),
            lambda d: d["rules"]["long-op"].update(severity="err"),
            lambda d: d["rules"]["long-op"].update(asert="x"),
            lambda d: d["rules"]["long-op"].update({"from": "opps"}),
            lambda d: d["rules"]["copy-share"].update(gate="yes"),
            lambda d: d["waivers"][0].pop("expires"),
            lambda d: d["waivers"][0].update(until="2030-01-01"),
            lambda d: d["notifications"]["events"].update(kind="pager"),
            lambda d: d["costs"]["flash_fwd*"].update(flop=1),
            lambda d: d["profiles"][0].update(rule={}),
        ):
            self.assertNotEqual(self.errors(spoiled(change)), [])

    def test_parameters_of_inherited_rules(self):
        """What an expression of the set uses, unless the file brings expressions of its own."""

        def errors(rule):
            return self.errors({"version": 1, "rules": rule})

        self.assertEqual(errors({"collective-roofline": {"params": {"slack": "5 us"}}}), [])
        self.assertNotEqual(errors({"collective-roofline": {"params": {"slak": "5 us"}}}), [])
        self.assertNotEqual(errors({"chip-known": {"params": {"slack": "5 us"}}}), [])
        own = {"value": "layout_copy_ratio / :most", "at_most": 1, "params": {"most": "5%"}}
        self.assertEqual(errors({"copy-share": own}), [])
        self.assertEqual(errors({"my-own": {"from": "run", **own}}), [])
        tuned = {"match": "*", "rules": {"collective-roofline": {"params": {"slak": "5 us"}}}}
        self.assertNotEqual(self.errors({"version": 1, "profiles": [tuned]}), [])

    def test_keys_are_those_that_load(self):
        """Of every section: what the schema lists is what the reader takes."""
        entries = {
            "waivers": self.schema["properties"]["waivers"]["items"],
            "profiles": self.schema["properties"]["profiles"]["items"],
            "costs": self.schema["properties"]["costs"]["additionalProperties"],
            "notifications": self.schema["properties"]["notifications"]["additionalProperties"],
        }
        good = load(EVERY)
        for section, entry in entries.items():
            listed = good[section]
            used = {key for one in (listed if isinstance(listed, list) else listed.values())
                    for key in one}
            self.assertEqual(used, set(entry["properties"]), section)

    def test_completes(self):
        rules = self.schema["$defs"]["rules"]["properties"]
        params = rules["collective-roofline"]["properties"]["params"]["properties"]
        self.assertIn("slack", params)
        self.assertTrue(rules["copy-share"]["description"])
        keys = self.schema["$defs"]["rule"]["properties"]
        self.assertIn("base_ops", keys["from"]["enum"])
        self.assertTrue(all(key.get("description") for key in keys.values()))

    def test_of_a_file_of_ones_own(self):
        rules = schema_of(EVERY)["$defs"]["rules"]["properties"]
        self.assertIn("least", rules["long-op"]["properties"]["params"]["properties"])


if __name__ == "__main__":
    unittest.main()
