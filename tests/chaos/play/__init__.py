"""The stage: broker and proxy, the real roles as processes, and the readers that watch from outside."""
