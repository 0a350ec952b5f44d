# The citation of exactly the records of an analysis: release, day, sources and digest.
library(outbreakdata)

client <- ob_as_of(ob_client(), 6)
cat(ob_cite(client, event = "Lassa_Nigeria_2018"), "\n\n")
cat(ob_cite(client, event = "Lassa_Nigeria_2018", format = "bibtex"), "\n")
