"""Force elements: what acts on the bodies of a machine besides gravity and its joints. One file each."""
