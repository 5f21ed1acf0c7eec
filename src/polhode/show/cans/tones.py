"""Colour numbers of the pieces: 0 for the ground, then six in rotation."""

TONES = 7


def tone_of(piece: int) -> int:
    """The tone of a piece; 0 is the ground's."""
    return piece if piece == 0 else (piece - 1) % (TONES - 1) + 1


def turn_tone(turn: int) -> int:
    """The tone of what a motion carries."""
    return tone_of(turn + 1)
