# What CI runs.
check:
    cargo xtask test

# Just the tests whose name contains the filter.
only filter:
    cargo xtask test --no-install --only {{filter}}

# The SDK beside its peers.
bench:
    cargo xtask bench sdk
