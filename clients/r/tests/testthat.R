library(testthat)
library(outbreakdata)

test_check("outbreakdata")
