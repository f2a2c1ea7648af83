"""What the noise does to the consumer's decisions."""
