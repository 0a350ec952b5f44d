"""The doubling time of an epidemic: a straight line through the logarithm of the weekly counts.

Weeks that are unknown, zero or revised are left out, and the script says how many.
"""

import numpy as np

from outbreaks import Client

ob = Client().as_of(6)
print("country  doubling time (days)  weeks used")
for country in ["BR", "IN", "NG", "ZA"]:
    weeks = ob.series(
        event="COVID-19_Global_2019",
        country_code=country,
        interval="isoweek",
        date_from="2020-03-09",
        date_to="2020-06-07",
    ).to_pandas()
    weeks = weeks[weeks.row == "figure"]
    used = weeks[weeks.new_cases.notna() & (weeks.new_cases > 0) & ~weeks.revision]
    days = (used.first_day - weeks.first_day.min()).dt.days.astype(float)
    slope = np.polyfit(days, np.log2(used.new_cases.astype(float)), 1)[0]
    print(f"{country}       {1 / slope:20.1f}  {len(used)} of {len(weeks)}")
