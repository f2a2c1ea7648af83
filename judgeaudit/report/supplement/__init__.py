"""A paper's supplement as Arrow tables and the page that explains them."""
