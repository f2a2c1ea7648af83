"""What is asked and how an answer is read: readouts and providers."""
