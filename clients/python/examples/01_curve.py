"""An epidemic curve.

Weeks whose count is unknown are hatched: unknown is not zero. Triangles mark weeks that the source revised.
"""

from outbreaks import Client

ob = Client().as_of(6)
series = ob.series(event="COVID-19_Global_2019", country_code="FR", interval="isoweek")
axes = series.plot(title="COVID-19 in France")
axes.figure.savefig("01_curve.png")
print(series.to_pandas()[["period", "new_cases", "revision"]].iloc[40:46].to_string(index=False))
