"""What a harness's own calls, some of them asked again behind its back, say of its judge."""
