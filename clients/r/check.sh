#!/bin/sh
# Checks the R package: documentation, style, build, R CMD check with all tests. Says what is missing if R is not there.
# Usage: clients/r/check.sh   (the live tests need Node 24 and `npm ci` in the repository; otherwise they are skipped)
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
packages="cli curl ggplot2 jsonlite knitr lintr openssl processx rlang rmarkdown roxygen2 testthat tibble withr"

if ! command -v Rscript >/dev/null; then
  echo "R is not installed. On Debian 12 or Ubuntu:" >&2
  echo "  apt-get install -y --no-install-recommends r-base-core pandoc$(printf ' r-cran-%s' $packages)" >&2
  exit 1
fi
missing=$(Rscript -e 'wanted <- commandArgs(TRUE); cat(wanted[!vapply(wanted, requireNamespace, TRUE, quietly = TRUE)])' $packages)
if [ -n "$missing" ]; then
  echo "Packages of R are missing. On Debian 12 or Ubuntu:" >&2
  echo "  apt-get install -y --no-install-recommends$(printf ' r-cran-%s' $missing)" >&2
  exit 1
fi
command -v pandoc >/dev/null || { echo "pandoc is missing: apt-get install -y --no-install-recommends pandoc" >&2; exit 1; }
command -v node >/dev/null || echo "node is not installed: the tests with the scripted server and the live tests are skipped" >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here" "$work/outbreakdata"
cd "$work"

echo "== documentation is up to date"
Rscript -e 'roxygen2::roxygenise("outbreakdata")' >roxygen.log 2>&1 || { cat roxygen.log; exit 1; }
diff -r "$here/man" outbreakdata/man && diff "$here/NAMESPACE" outbreakdata/NAMESPACE ||
  { echo "run roxygen2::roxygenise() in clients/r"; exit 1; }

echo "== style"
Rscript -e 'pkgload::load_all("outbreakdata", quiet = TRUE); library(testthat); found <- lintr::lint_package("outbreakdata"); print(found); quit(status = min(1, length(found)))'

echo "== build and check"
R CMD build outbreakdata
# The tests need the vectors, which are beside the package and not in it.
export OUTBREAKS_VECTORS="${OUTBREAKS_VECTORS:-$(dirname "$here")/vectors}"
# The clock of the check needs a server on the Internet.
export _R_CHECK_SYSTEM_CLOCK_=FALSE _R_CHECK_FORCE_SUGGESTS_=FALSE NOT_CRAN=true
R CMD check --no-manual outbreakdata_*.tar.gz
tail -n 15 outbreakdata.Rcheck/tests/testthat.Rout
log=outbreakdata.Rcheck/00check.log
grep -q '^Status: OK$' "$log" && exit 0
# incidence2 is on CRAN and not in Debian. Nothing else may be noted.
grep -q '^Status: 1 NOTE$' "$log" && grep -q 'not available for checking: .incidence2.$' "$log" && exit 0
echo "R CMD check found something: see above" >&2
exit 1
