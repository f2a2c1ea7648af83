# Reference values for tests/stats, from R: `Rscript tests/reference/reliability.R > tests/reference/reliability.json`
# (run in the repository's root; packages psych, lme4, jsonlite).
suppressMessages({library(psych); library(lme4); library(jsonlite)})
options(warn = -1)

# Shrout & Fleiss (1979), table 2: six targets, four judges.
sf <- matrix(c(9,2,5,8, 6,1,3,2, 8,4,6,8, 7,1,2,6, 10,5,6,9, 6,2,4,7), 6, 4, byrow = TRUE)
icc <- ICC(sf, lmer = FALSE)$results

set.seed(20261129)
# Tied scores of two repeats, 24 items: Spearman, Kendall tau-b and their delete-one values.
x <- sample(1:5, 24, TRUE)
y <- pmin(5, pmax(1, x + sample(-1:1, 24, TRUE)))
without <- function(i, method) cor(x[-i], y[-i], method = method)
deleted <- lapply(c(spearman = "spearman", kendall = "kendall"),
                  function(m) sapply(seq_along(x), without, method = m))

# A balanced study: 15 items x 6 windows x 3 repeats, components 1, .2, .3, .5.
n <- 15; w <- 6; r <- 3
d <- expand.grid(repeat_ = 1:r, window = 1:w, item = 1:n)
d$y <- round(rnorm(n)[d$item] + sqrt(.2) * rnorm(w)[d$window] +
             sqrt(.3) * rnorm(n * w)[(d$item - 1) * w + d$window] + sqrt(.5) * rnorm(nrow(d)), 3)
fit <- lmer(y ~ 1 + (1 | item) + (1 | window) + (1 | item:window), d, REML = TRUE,
            control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9)))
v <- as.data.frame(VarCorr(fit)); v <- setNames(v$vcov, v$grp)

# The same study with a fifth of the replies missing, for the closeness of Henderson III to REML.
kept <- runif(nrow(d)) > .2
fit2 <- update(fit, data = d[kept, ])
v2 <- as.data.frame(VarCorr(fit2)); v2 <- setNames(v2$vcov, v2$grp)
named <- function(v) list(items = v[["item"]], windows = v[["window"]],
                          items_by_window = v[["item:window"]], repeats = v[["Residual"]])

cat(toJSON(list(
  shrout_fleiss = list(scores = sf, type = icc$type, icc = icc$ICC,
                       low = icc$`lower bound`, high = icc$`upper bound`),
  ranks = list(x = x, y = y, spearman = cor(x, y, method = "spearman"),
               kendall = cor(x, y, method = "kendall"), deleted = deleted),
  components = list(shape = c(n, w, r), y = d$y, reml = named(v),
                    kept = kept, reml_missing = named(v2))
), digits = NA, auto_unbox = TRUE))
