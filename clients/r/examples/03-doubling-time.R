# The doubling time of an epidemic: a straight line through the logarithm of the weekly counts.
#
# Weeks that are unknown, zero or revised are left out, and the script says how many.
library(outbreakdata)

client <- ob_as_of(ob_client(), 6)
cat("country  doubling time (days)  weeks used\n")
for (country in c("BR", "IN", "NG", "ZA")) {
  weeks <- ob_series(client,
    event = "COVID-19_Global_2019", country_code = country, interval = "isoweek",
    date_from = "2020-03-09", date_to = "2020-06-07"
  )
  weeks <- weeks[weeks$row == "figure", ]
  used <- weeks[!is.na(weeks$new_cases) & weeks$new_cases > 0 & !weeks$revision, ]
  slope <- coef(lm(log2(new_cases) ~ as.numeric(first_day), used))[[2]]
  cat(sprintf("%s       %20.1f  %d of %d\n", country, 1 / slope, nrow(used), nrow(weeks)))
}
