"""What windows and days add: agreement by pair of windows, same day against other day."""
