"""How complete a month was when it was first reported: one number through all releases.

Each column is a release. Each row is a month, as a share of what the last release says about it.
"""

import matplotlib.pyplot as plt

from outbreaks import Client

vintages = (
    Client().vintages(event="Measles_United_States_2025", location_granularity="admin2", interval="month").to_pandas()
)
triangle = vintages.pivot(index="period", columns="release", values="new")
print(triangle.to_string(na_rep="-"))

share = triangle.astype("Float64").div(triangle[triangle.columns[-1]], axis=0)
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for release in share.columns[:-1]:
    axes.plot(share.index, share[release].astype(float), marker="o", label=f"release {release}")
axes.axhline(1, color="grey", linewidth=1)
axes.set(title="Measles: cases of a month, as a share of release 6", ylim=(0, None))
axes.legend()
figure.savefig("05_reporting_delay.png")
