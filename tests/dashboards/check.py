#!/usr/bin/env python3
"""check.py [DASHBOARD.json …]: what a dashboard and the alert rules ask for can be had.

Every expression is parsed by promtool; every metric and label in it stands in docs/METRICS.md; panels have a title, a
unit and the data source of the variable; every detector of src/core/detect has an alert and a panel.
Ends with 1 if anything is wrong, with 77 where promtool is not installed and all else is right.
"""
import json, re, shutil, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = {"instance", "job"}  # labels that Prometheus adds
# The findings' families; METRICS.md may name them as well.
LABELS = {"railwatch_finding_severity": {"finding", "subject"}, "railwatch_finding_raised_total": {"finding"},
          "railwatch_detector_capability": {"finding"}, "railwatch_maintenance": set()}
VARIABLES = {"$__rate_interval": "5m", "$__interval": "1m", "$__range": "1h"}
WORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "bool", "offset"}
GROUPING = r"\b(?:by|on|ignoring|without|group_left|group_right)\s*\(([^)]*)\)"
bad = []


def documented():
    """Labels of every metric of docs/METRICS.md."""
    page = (ROOT / "docs/METRICS.md").read_text()
    rows = re.findall(r"^### `(\w+)`\n\n.*\n\n(?:Counter|Gauge) in .*?, labels (.*?)(?:, \w+ lane| \(no )", page, re.M)
    own = re.findall(r"^\| `(railwatch_\w+)` \| (?:gauge|counter) \| (.*?) \|", page, re.M)
    LABELS.update((name, set(re.findall(r"`(\w+)`", said))) for name, said in rows + own)
    headings = set(re.findall(r"^### `(\w+)`", page, re.M))
    assert headings and headings <= set(LABELS), f"not understood in METRICS.md: {sorted(headings - set(LABELS))[:3]}"


def names(where, expr):
    """Checks metrics and labels of an expression; answers the labels its result can have."""
    bare = re.sub(r'"[^"]*"', '""', expr)
    matched = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"\"", bare))
    grouped = {label.strip() for inside in re.findall(GROUPING, bare) for label in inside.split(",") if label.strip()}
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", re.sub(GROUPING, " ", bare))
    metrics = set(re.findall(r"(?<![\w.])[A-Za-z_:][\w:]*\b(?!\s*\()", bare)) - WORDS
    if not metrics:
        bad.append(f"{where}: names no metric: {expr}")
    for metric in sorted(metrics - set(LABELS)):
        bad.append(f"{where}: {metric} is not in docs/METRICS.md")
    labels = TARGET.union(*(LABELS.get(metric, set()) for metric in metrics))
    for label in sorted((matched | grouped) - labels):
        bad.append(f"{where}: none of {', '.join(sorted(metrics))} has a label {label}")
    by = re.search(r"\bby\s*\(([^)]*)\)", expr)
    return {label.strip() for label in by[1].split(",")} if by else labels


def panel(name, p, expressions):
    """Checks one panel and gathers its expressions."""
    where = f"{name}: {p.get('title') or 'panel ' + str(p.get('id'))}"
    if p["type"] == "row":
        return
    if not p.get("title") or not p["fieldConfig"]["defaults"].get("unit") or not p.get("targets"):
        bad.append(f"{where}: lacks a title, a unit or a query")
    for target in p.get("targets", []):
        expressions.append((where, target["expr"]))
        labels = names(where, target["expr"])
        for label in sorted(set(re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", ""))) - labels):
            bad.append(f"{where}: the legend names {label}, which the result of {target['refId']} has not")


def dashboard(path, expressions, codes):
    board, name = json.loads(path.read_text()), path.name
    panels = board["panels"]
    for p in panels:
        panel(name, p, expressions)
    for note in board["annotations"]["list"]:
        expressions.append((f"{name}: annotation", note["expr"]))
        names(f"{name}: annotation", note["expr"])
    for metric in re.findall(r'"label_values\((\w+)', path.read_text()):
        names(f"{name}: variable", metric)
    others = set(re.findall(r'"uid": "([^"]*)"', path.read_text())) - {"${datasource}", board["uid"]}
    if others or any(p["type"] != "row" and p.get("datasource", {}).get("uid") != "${datasource}" for p in panels):
        bad.append(f"{name}: a data source is not the variable {others or str()}")
    cells = [(x, y) for g in (p["gridPos"] for p in panels)
             for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])]
    if len(cells) != len(set(cells)) or max(x for x, _ in cells) > 23 or len({p["id"] for p in panels}) != len(panels):
        bad.append(f"{name}: panels overlap, stand out, or share an id")
    said = {code for p in panels if p["type"] != "row" for code in codes if code in p.get("description", "")}
    bad.extend(f"{name}: no panel is said to show the input of {code}" for code in sorted(codes - said))


def parsed(expressions):
    """Lets promtool parse the expressions, as recording rules."""
    rules = []
    for where, expr in expressions:
        for variable, value in VARIABLES.items():
            expr = expr.replace(variable, value)
        rules.append({"record": "panel:" + re.sub(r"\W+", "_", where), "expr": expr})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"groups": [{"name": "dashboards", "rules": rules}]}, file)
        file.flush()
        told = subprocess.run(["promtool", "check", "rules", "--lint=none", file.name], capture_output=True, text=True)
    if told.returncode or f"{len(rules)} rules found" not in told.stdout:
        bad.append(told.stdout + told.stderr)


documented()
sources = [path.read_text() for path in sorted((ROOT / "src/core/detect").glob("*.rs"))]
codes = {code for text in sources for code in re.findall(r'static RULE: Rule = Rule \{\s*code: "(\w+)"', text)}
assert codes, "no detector found in src/core/detect: nothing is proven"
alerts = (ROOT / "deploy/prometheus/railwatch.rules.yml").read_text()
told_of = set(re.findall(r'finding="(\w+)"', alerts))
bad.extend(f"railwatch.rules.yml: {code} is not an alert, or no detector" for code in sorted(codes ^ told_of))
for rule in re.findall(r"- alert: (\w+)\n\s+expr: \|\n((?:\s{10,}.*\n)+)", alerts):
    names(rule[0], rule[1])
expressions = []
for path in [Path(given) for given in sys.argv[1:]] or sorted((ROOT / "dashboards").glob("*.json")):
    dashboard(path, expressions, codes)
assert expressions, "no expression found: nothing is proven"
if shutil.which("promtool"):
    parsed(expressions)
print("\n".join(bad) or f"ok: {len(expressions)} expressions, {len(LABELS)} metrics known, {len(codes)} detectors")
if bad:
    sys.exit(1)
if not shutil.which("promtool"):
    print("SKIPPED: promtool is not installed, so no expression was parsed")
    sys.exit(77)
