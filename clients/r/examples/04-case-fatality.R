# The case fatality of an outbreak, and why it needs a warning.
#
# Deaths follow cases by weeks, and mild cases are often not counted. The ratio is of reported deaths to reported cases
# on one day; it is not the risk of dying. The service refuses to add up counts that are not comparable.
library(outbreakdata)

client <- ob_as_of(ob_client(), 6)
sums <- ob_sums(client,
  event = "COVID-19_Global_2019", location_granularity = "country", group_by = "country_code"
)
sums$ratio <- round(100 * sums$cumulative_deaths / sums$cumulative_cases, 2)
columns <- c("country_code", "last_day", "cumulative_cases", "cumulative_deaths", "ratio")
print(as.data.frame(sums[columns]), row.names = FALSE)

tryCatch(
  ob_sums(client, event = "Lassa_Nigeria_2018", group_by = "country_code"),
  ob_not_comparable = function(refused) {
    cat("\nLassa in Nigeria: refused, because the records differ in ", toString(refused$mixed), ".\n", sep = "")
    cat("Choose one of", length(refused$choices), "comparable sets, for example the one of WHO:\n")
    who <- Filter(function(choice) grepl("WHO", choice$source_name), refused$choices)[[1]]
    total <- do.call(ob_sums, c(list(client, event = "Lassa_Nigeria_2018", group_by = "country_code"), who))
    ratio <- 100 * total$cumulative_deaths / total$cumulative_cases
    cat(sprintf("%d deaths of %d cases: %.1f %%\n", total$cumulative_deaths, total$cumulative_cases, ratio))
  }
)
