"""The contradiction of metrics and people that the front page and the site's card show."""

from __future__ import annotations

from types import SimpleNamespace

from leaderboard.records.front import Contradiction, Parted, Turned
from leaderboard.records.people import Basis
from leaderboard.views.home import surest_contradiction


def card(name: str, simulated: bool = False, **contradictions: Contradiction) -> SimpleNamespace:
    front = SimpleNamespace(**({"parted": None, "turned": None} | contradictions))
    return SimpleNamespace(name=name, challenge=SimpleNamespace(simulated=simulated), front=front)


def people(low: float | None, simulated: bool = False) -> dict:
    return {"ends": (0.9, low, 0.95), "basis": Basis(of="votes", n=9, raters=3), "simulated": simulated}


def parted(low: float | None, simulated: bool = False) -> Parted:
    return Parted(metrics=("a", 1), people=("b", 2), imported=False, **people(low, simulated))


def turned(low: float) -> Turned:
    return Turned(metric="A", first=("a", 1), preferred=("b", 2), sample="", **people(low))


def test_the_surest_is_shown_first_places_before_entry_pairs_and_real_before_simulated():
    nothing = SimpleNamespace(name="nothing", challenge=SimpleNamespace(simulated=False), front=None)
    one, surer = card("one", parted=parted(0.6)), card("surer", parted=parted(0.7))
    of_a_demo, of_simulated_people = card("demo", True, parted=parted(0.9)), card("simulated people", parted=parted(0.95, True))
    pair = card("pair", turned=turned(0.99))
    assert surest_contradiction([]) is surest_contradiction([nothing, card("none")]) is None
    found = surest_contradiction([nothing, pair, of_simulated_people, one, of_a_demo, surer])
    assert found == (surer, surer.front.parted)
    assert surest_contradiction([pair, of_a_demo, of_simulated_people])[0] is pair, "simulated people tell nothing of metrics"
    assert surest_contradiction([of_a_demo, of_simulated_people])[0] is of_simulated_people
    assert surest_contradiction([nothing, pair, card("less", turned=turned(0.6))]) == (pair, pair.front.turned)
