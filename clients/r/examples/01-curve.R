# An epidemic curve.
#
# Weeks whose count is unknown are grey: unknown is not zero. Crosses mark weeks that the source revised.
library(outbreakdata)

client <- ob_as_of(ob_client(), 6)
series <- ob_series(client, event = "COVID-19_Global_2019", country_code = "FR", interval = "isoweek")
plot <- ob_plot(series, title = "COVID-19 in France")
ggplot2::ggsave("01-curve.png", plot, width = 7, height = 3.2, dpi = 110, bg = "white")
print(as.data.frame(series[41:46, c("period", "new_cases", "revision")]), row.names = FALSE)
