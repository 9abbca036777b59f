"""`make demo`: the matrix workflow, from launch to nothing left, in half a minute."""
