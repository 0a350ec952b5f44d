# The case fatality of an outbreak, and why it needs a warning.
#
# Deaths follow cases by weeks, and mild cases are often not counted. The ratio is of reported deaths to reported cases
# on one day; it is not the risk of dying. Of several ways to count, the service chooses one and says which.
library(outbreakdata)

client <- ob_as_of(ob_client(), 6)
sums <- ob_sums(client,
  event = "COVID-19_Global_2019", location_granularity = "country", group_by = "country_code"
)
sums$ratio <- round(100 * sums$cumulative_deaths / sums$cumulative_cases, 2)
columns <- c("country_code", "last_day", "cumulative_cases", "cumulative_deaths", "ratio")
print(as.data.frame(sums[columns]), row.names = FALSE)

lassa <- suppressMessages(ob_sums(client, event = "Lassa_Nigeria_2018", group_by = "country_code"))
ratio <- 100 * lassa$total_deaths / lassa$total_cases
cat(sprintf("\nLassa in Nigeria: %d deaths of %d cases, %.1f %%\n", lassa$total_deaths, lassa$total_cases, ratio))
cat(attr(lassa, "notice"), "\n", sep = "")
