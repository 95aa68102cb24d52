#!/bin/bash
# Links in the documents lead somewhere: files that are there, headings that are there.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_SRC" || exit 2

check 'links of all documents' python3 - <<'PY'
import re
import sys
from pathlib import Path

documents = [*Path(".").glob("*.md"), *Path("docs").rglob("*.md"), *Path("patches").rglob("*.md")]


def headings(path):
    """As GitHub names them."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    out = set()
    for title in re.findall(r"^#+ +(.*)$", text, re.M):
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()
        out.add(re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-"))
    return out


bad = 0
for document in sorted(documents):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", document.read_text(), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = document if not name else document.parent / name
        parts = []
        for part in target.parts:
            parts.pop() if part == ".." else parts.append(part)
        target = Path(*parts)
        if not target.exists():
            print(f"# {document}: {link}: there is no such file", file=sys.stderr)
            bad += 1
        elif anchor and anchor not in headings(target):
            print(f"# {document}: {link}: there is no such heading", file=sys.stderr)
            bad += 1
sys.exit(bool(bad))
PY
check 'every document is linked from README.md or docs/README.md' python3 - <<'PY'
import re
import sys
from pathlib import Path

linked = "".join(p.read_text() for p in (Path("README.md"), Path("docs/README.md")) if p.exists())
lost = [p.name for p in sorted(Path("docs").glob("*.md"))
        if p.name != "README.md" and f"{p.name}" not in linked]
for name in lost:
    print(f"# docs/{name}", file=sys.stderr)
sys.exit(bool(lost))
PY
tap_close
