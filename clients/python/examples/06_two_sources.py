"""Several sources about one outbreak, side by side and never added up.

Grouping by source gives each its own row. Six papers count between 376 and 1,463 confirmed cases.
"""

import matplotlib.pyplot as plt

from outbreaks import Client

ob = Client().as_of(6)
sums = ob.sums(event="Lassa_Nigeria_2018", case_status="confirmed", group_by="source_name").to_pandas()
sums = sums.sort_values("cumulative_cases")
print(sums[["source_name", "last_day", "cumulative_cases"]].to_string(index=False))

figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
axes.barh(sums.source_name, sums.cumulative_cases.astype(float), color="#2a6f97")
for place, (count, day) in enumerate(zip(sums.cumulative_cases, sums.last_day, strict=True)):
    axes.text(count, place, f" {count} up to {day:%Y-%m-%d}", va="center")
axes.set(title="Lassa in Nigeria, 2018: confirmed cases by source", xlim=(0, 2100))
figure.savefig("06_two_sources.png")
