"""The case fatality of an outbreak, and why it needs a warning.

Deaths follow cases by weeks, and mild cases are often not counted. The ratio is of reported deaths to reported cases
on one day; it is not the risk of dying. The service refuses to add up counts that are not comparable.
"""

from outbreaks import Client, NotComparable

ob = Client().as_of(6)
sums = ob.sums(event="COVID-19_Global_2019", location_granularity="country", group_by="country_code").to_pandas()
sums["ratio"] = (100 * sums.cumulative_deaths.astype(float) / sums.cumulative_cases.astype(float)).round(2)
print(sums[["country_code", "last_day", "cumulative_cases", "cumulative_deaths", "ratio"]].to_string(index=False))

try:
    ob.sums(event="Lassa_Nigeria_2018", group_by="country_code")
except NotComparable as refused:
    print(f"\nLassa in Nigeria: refused, because the records differ in {', '.join(refused.mixed)}.")
    print(f"Choose one of {len(refused.choices)} comparable sets, for example the one of WHO:")
    who = next(choice for choice in refused.choices if "WHO" in choice["values"]["source_name"])
    total = ob.sums(event="Lassa_Nigeria_2018", group_by="country_code", **who["values"])["data"][0]["cumulative"]
    print(f"{total['deaths']} deaths of {total['cases']} cases: {100 * total['deaths'] / total['cases']:.1f} %")
