#!/usr/bin/env bash
# Everything that a change to this package must pass. It needs python3 with venv, Node 24 and `npm ci` in the root.
set -euo pipefail
cd "$(dirname "$0")"

venv="${TMPDIR:-/tmp}/outbreaks-python-client"
# An editable install belongs to one checkout.
stamp="$(pwd -P) $(cat pyproject.toml check.sh | sha256sum)"
if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ]; then
  rm -rf "$venv"
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'pip>=25.1'
  "$venv/bin/pip" install --quiet --group dev --editable '.[all]'
  echo "$stamp" >"$venv/stamp"
fi
export PATH="$venv/bin:$PATH"

ruff format --check
ruff check
mypy
pytest --quiet
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python -m build --outdir "$out" >/dev/null
twine check --strict "$out"/*
