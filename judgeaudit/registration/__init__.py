"""Registration: what a study is, frozen before it runs."""
