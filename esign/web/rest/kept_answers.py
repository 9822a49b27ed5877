"""Answers to GET that are kept in memory until what they show has another revision."""

from esign.core.actor import Mode
from esign.web.http.answer import ApiAnswer

ROOM = 8 * 2**20  # bytes
OVERHEAD = 1000  # bytes that an answer takes beside its body
Place = tuple[str, Mode, bytes]  # organisation, mode and path


class KeptAnswers:
    """The answers that were sent last, at most one for each place and at most `room` bytes in all."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._size = 0
        self._answers: dict[Place, ApiAnswer] = {}  # the order is that of the last use

    def find(self, place: Place, etag: bytes) -> ApiAnswer | None:
        """Return the answer with this ETag, or None."""
        answer = self._answers.get(place)
        if answer is None or answer.etag != etag:
            return None
        self._answers[place] = self._answers.pop(place)
        return answer

    def keep(self, place: Place, answer: ApiAnswer) -> None:
        """Keep the answer instead of an older one of this place. Those that were not used for longest make room."""
        self._drop(place)
        size = measure(answer)
        if size > self._room // 8:  # it would take the room of many
            return
        self._answers[place] = answer
        self._size += size
        while self._size > self._room:
            self._drop(next(iter(self._answers)))

    def _drop(self, place: Place) -> None:
        """Forget the answer of a place, if there is one."""
        answer = self._answers.pop(place, None)
        if answer is not None:
            self._size -= measure(answer)


def measure(answer: ApiAnswer) -> int:
    """Return about how many bytes of memory the answer takes."""
    return len(answer.body) + OVERHEAD
