# What changed between two releases, and why.
library(outbreakdata)

client <- ob_client()
changes <- ob_changes(client, 2, 3)
counts <- aggregate(list(records = changes$id), changes[c("change", "reason")], length)
print(counts, row.names = FALSE)

corrected <- changes[changes$change == "corrected", ]
largest <- corrected[which.max(abs(corrected$after$cases - corrected$before$cases)), ]
cat("\nthe largest correction:", largest$after$country, "up to", format(largest$after$date_high), "\n")
print(as.data.frame(ob_history(client, largest$id)[c("from_release", "to_release", "cases")]), row.names = FALSE)
