"""Reads a server's metrics as Prometheus' own library does.  usage: prometheus_text.py ADDRESS/v1 MODEL

Fails where the text cannot be parsed, where a family or a series is there twice, or where a sample is of no family.
"""

import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

with urllib.request.urlopen(sys.argv[1].removesuffix("/v1") + "/metrics", timeout=30) as answer:
    text = answer.read().decode()
heads = [line.split(" ")[2] for line in text.splitlines() if line.startswith("# TYPE ")]
twice = {name for name in heads if heads.count(name) > 1}
assert not twice, f"families that are there twice: {twice}"
families = list(text_string_to_metric_families(text))
names = [family.name for family in families]
twice = {name for name in names if names.count(name) > 1}
assert not twice, f"families whose samples are apart: {twice}"
series = [(sample.name, tuple(sorted(sample.labels.items()))) for family in families for sample in family.samples]
assert len(set(series)) == len(series), f"series that are there twice: {[one for one in series if series.count(one) > 1]}"
assert len(families) > 20, names
