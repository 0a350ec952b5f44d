# A script that gives the same numbers always, even without a network.
#
# `ob_load()` downloads a release once, verifies it and keeps it. The second call below requests nothing.
library(outbreakdata)

release <- ob_load(ob_client(), 6)
Sys.setenv(OUTBREAKS_OFFLINE = "1")
records <- ob_load(ob_client(), 6)
cat("the same records without a network:", identical(release, records), "\n")
cholera <- records[records$disease %in% "Cholera", ]
cat(nrow(records), "records,", nrow(cholera), "of cholera in", length(unique(cholera$country_code)), "countries\n")
known <- cholera[!is.na(cholera$cases), ]
print(head(sort(tapply(known$cases, known$country_code, max), decreasing = TRUE), 3))
