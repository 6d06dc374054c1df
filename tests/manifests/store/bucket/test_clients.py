"""Clients are shared by stores with equal settings, within one process."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from colonnade.manifests.store.bucket.clients import Clients
from colonnade.manifests.store.bucket.patience import Patience


@dataclass(frozen=True)
class Settings:
    identity: str


class Client(Patience):
    def __init__(self, settings: Settings) -> None:
        super().__init__(patience_s=1)
        self.settings = settings


def test_equal_settings_share_a_client_and_other_settings_have_their_own() -> None:
    clients = Clients(Client)
    one = clients.of(Settings("one"))
    assert clients.of(Settings("one")) is one
    assert clients.of(Settings("two")) is not one


def test_a_client_without_credentials_is_replaced() -> None:
    clients = Clients(Client)
    one = clients.of(Settings("one"))
    one.is_spent = True
    other = clients.of(Settings("one"))
    assert other is not one
    assert clients.of(Settings("one")) is other


def test_a_forked_process_gets_a_client_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = Clients(Client)
    parent = clients.of(Settings("one"))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert clients.of(Settings("one")) is not parent


def test_threads_that_ask_at_the_same_time_share_one_client() -> None:
    begun = threading.Barrier(8)
    made = []

    def make(settings: Settings) -> Client:
        made.append(settings)
        return Client(settings)

    clients = Clients(make)

    def ask(_: int) -> Client:
        begun.wait()
        return clients.of(Settings("one"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(each is found[0] for each in found)


def test_a_client_that_could_not_be_made_is_tried_again() -> None:
    answers = iter((ValueError("no"), None))

    def make(settings: Settings) -> Client:
        if (error := next(answers)) is not None:
            raise error
        return Client(settings)

    clients = Clients(make)
    with pytest.raises(ValueError, match="no"):
        clients.of(Settings("one"))
    assert clients.of(Settings("one")).settings == Settings("one")
