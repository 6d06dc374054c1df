"""What is live: epochs, snapshots, checkpoints, conflicts, and the stores under them."""
