# Draws figure.png of the README from the sample: start `npm run dev`, set OUTBREAKS_URL, OUTBREAKS_CLIENT_ID and
# OUTBREAKS_CLIENT_SECRET, then run `Rscript figure.R` in this directory.
pkgload::load_all(quiet = TRUE)

series <- ob_series(ob_client(), event = "COVID-19_Global_2019", country_code = "FR", interval = "isoweek", release = 6)
plot <- ob_plot(series, title = "COVID-19 in France, by week")
ggplot2::ggsave("figure.png", plot, width = 7, height = 3.2, dpi = 110, bg = "white")
