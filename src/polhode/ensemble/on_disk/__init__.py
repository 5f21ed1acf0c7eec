"""A study on disk: its Zarr arrays, the digests that seal them, and who reads and verifies them."""
