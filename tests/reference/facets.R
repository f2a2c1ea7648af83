# Reference values of the facet model, from lme4:
# `Rscript tests/reference/facets.R > tests/reference/facets.json` (packages lme4, jsonlite).
suppressMessages({library(lme4); library(jsonlite)})
options(warn = -1)
set.seed(20261201)
exact <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e5))
parts <- function(fit) { v <- as.data.frame(VarCorr(fit)); as.list(setNames(v$vcov, v$grp)) }

# Items x runs, 40 x 6, a run shift, and a fifth of the cells empty (more in one run).
n <- 40; k <- 6
d <- expand.grid(item = 1:n, run = 1:k)
d$y <- round(3 + rnorm(n)[d$item] + .3 * rnorm(k)[d$run] + .5 * rnorm(nrow(d)), 3)
kept <- runif(nrow(d)) > ifelse(d$run == 4, .5, .15)
full <- lmer(y ~ 1 + (1 | item) + (1 | run), d, control = exact)
gaps <- update(full, data = d[kept, ])

# Items x judges x runs, 30 x 3 x 4, all crossed.
a <- 30; b <- 3; r <- 4
e <- expand.grid(item = 1:a, judge = 1:b, run = 1:r)
e$y <- round(rnorm(a)[e$item] + .5 * rnorm(b)[e$judge] + .8 * rnorm(r)[e$run] +
  .5 * rnorm(a * b)[(e$judge - 1) * a + e$item] + .3 * rnorm(a * r)[(e$run - 1) * a + e$item] +
  .3 * rnorm(b * r)[(e$run - 1) * b + e$judge] + .4 * rnorm(nrow(e)), 3)
crossed <- lmer(y ~ 1 + (1 | item) + (1 | judge) + (1 | run) + (1 | item:judge) + (1 | item:run) +
                  (1 | judge:run), e, control = exact)

cat(toJSON(list(
  runs = list(shape = c(n, k), y = d$y, kept = kept, full = parts(full), gaps = parts(gaps)),
  judges = list(shape = c(a, b, r), y = e$y, reml = parts(crossed))
), digits = NA, auto_unbox = TRUE))
