"""A machine as moving solids: shapes, poses at any instant, and the painter of films."""
