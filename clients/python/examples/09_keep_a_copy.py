"""A local copy that follows the releases.

The first `sync` downloads a release. Later ones fetch only the changes, and check the digest of the whole.
"""

import pandas as pd

from outbreaks import Client

ob = Client()
for release in [4, 5, 6]:
    copy = ob.sync("copy", release=release)
    records = pd.read_parquet("copy/records.parquet")
    how = f"{copy.added} added, {copy.corrected} corrected, {copy.withdrawn} withdrawn"
    print(f"release {release}: {len(records)} records, {'downloaded' if copy.from_release is None else how}")
