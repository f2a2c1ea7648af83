"""The one table that analyses read, and what is known of its rows."""
