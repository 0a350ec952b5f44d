"""The case fatality of an outbreak, and why it needs a warning.

Deaths follow cases by weeks, and mild cases are often not counted. The ratio is of reported deaths to reported cases
on one day; it is not the risk of dying. Of several ways to count, the service chooses one and says which.
"""

from outbreaks import Client

ob = Client().as_of(6)
sums = ob.sums(event="COVID-19_Global_2019", location_granularity="country", group_by="country_code").to_pandas()
sums["ratio"] = (100 * sums.cumulative_deaths.astype(float) / sums.cumulative_cases.astype(float)).round(2)
print(sums[["country_code", "last_day", "cumulative_cases", "cumulative_deaths", "ratio"]].to_string(index=False))

lassa = ob.sums(event="Lassa_Nigeria_2018", group_by="country_code")
total = lassa["data"][0]["total"]
print(f"\nLassa in Nigeria: {total['deaths']} deaths of {total['cases']} cases, ", end="")
print(f"{100 * total['deaths'] / total['cases']:.1f} %\n{lassa.notice}")
