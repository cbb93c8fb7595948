"""The ledger of a partition: pure."""
