# How complete a month was when it was first reported: one number through all releases.
#
# Each column is a release. Each row is a month. The picture has the shares of what the last release says.
library(outbreakdata)
library(ggplot2)

vintages <- ob_vintages(ob_client(),
  event = "Measles_United_States_2025", location_granularity = "admin2", interval = "month"
)
print(tapply(vintages$new, vintages[c("period", "release")], sum))

last <- vintages[vintages$release == max(vintages$release), ]
vintages$share <- vintages$new / last$new[match(vintages$period, last$period)]
plot <- ggplot(vintages, aes(reference_date, share, colour = factor(release))) +
  geom_line() +
  geom_point() +
  expand_limits(y = 0) +
  labs(title = "Measles: cases of a month, as a share of release 6", x = NULL, y = NULL, colour = "release") +
  theme_minimal()
ggsave("05-reporting-delay.png", plot, width = 8, height = 3.5, dpi = 110, bg = "white")
