"""The citation of exactly the records of an analysis: release, day, sources and digest."""

from outbreaks import Client

ob = Client().as_of(6)
print(ob.cite(event="Lassa_Nigeria_2018"))
print()
print(ob.cite(event="Lassa_Nigeria_2018", format="bibtex"))
