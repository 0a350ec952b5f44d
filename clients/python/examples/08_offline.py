"""A script that gives the same numbers always, even without a network.

`load` downloads a release once, verifies it and keeps it by its digest. The second run below requests nothing.
"""

import os

from outbreaks import Client

release = Client().load(6)
print(f"release {release.number}, digest {release.digest}")

os.environ["OUTBREAKS_OFFLINE"] = "1"
records = Client().load(6).to_pandas()
cholera = records[records.disease == "Cholera"]
print(f"{len(records)} records, {len(cholera)} of cholera in {cholera.country_code.nunique()} countries")
print(cholera.groupby("country_code", observed=True).cases.max().nlargest(3).to_string())
