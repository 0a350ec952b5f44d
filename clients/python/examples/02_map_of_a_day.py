"""A map of one day: measles in the United States up to 2025-06-01, by state.

`us-states.csv` has the positions of the states. The service adds up the counties of each state, joined by code.
A state without a report is a cross, not a zero.
"""

import matplotlib.pyplot as plt
import pandas as pd

from outbreaks import Client

states = pd.read_csv("us-states.csv", index_col="al1_code")
ob = Client().as_of(6)
sums = ob.sums(
    event="Measles_United_States_2025", location_granularity="admin2", group_by="al1_code", date_to="2025-06-01"
).to_pandas()
cases = states.join(sums.set_index("al1_code")["new_cases"]).drop(["US-AK", "US-HI"])
known, unknown = cases[cases.new_cases.notna()], cases[cases.new_cases.isna()]

figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
axes.scatter(unknown.longitude, unknown.latitude, marker="x", color="grey", label="no report")
axes.scatter(known.longitude, known.latitude, s=known.new_cases.astype(float) * 3, color="#2a6f97", alpha=0.7)
for code, state in known.nlargest(5, "new_cases").iterrows():
    axes.annotate(f"{code[3:]} {state.new_cases}", (state.longitude + 1, state.latitude + 1))
axes.set(title="Measles, cases up to 2025-06-01 (release 6)", aspect=1.3, xticks=[], yticks=[])
axes.legend(loc="lower left")
figure.savefig("02_map_of_a_day.png")
print(known.new_cases.nlargest(5).to_string())
print(f"{len(known)} of {len(cases)} states have a report")
