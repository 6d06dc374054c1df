"""A client of Azure uses the credentials that it is given, and shows none of them."""

from __future__ import annotations

from typing import Any

import pytest
from azure.core.credentials import AccessToken

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, StoreError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.azure import AzureStore
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.azure.client import client_of
from colonnade.manifests.store.azure.settings import AzureSettings, parse_settings
from tests.setup.azurite import KEY, Azurite

pytestmark = pytest.mark.timeout(900)  # the first test may install the server
ADDRESS = parse_address("abfss://lake@acc.dfs.core.windows.net/t")


def settings(environment: dict[str, str] | None = None, **options: Any) -> AzureSettings:
    return parse_settings(options, ADDRESS, environment or {})


def test_settings_that_the_client_refuses_are_named_and_their_values_are_not() -> None:
    for options in ({"account_key": "canary not base64"}, {"connection_string": "canary"}):
        store = open_store("az://lake/t", {"account_name": "acc", **options})
        with pytest.raises(ColonnadeError, match="; check account_(name|key)") as refused:
            store.get("a")
        assert "canary" not in refused.value.message


class _Token:
    def get_token(self, *scopes: str, **others: Any) -> AccessToken:
        return AccessToken("canary", 1 << 40)


class _LateToken:
    async def get_token(self, *scopes: str, **others: Any) -> AccessToken:
        return AccessToken("canary", 1 << 40)


def test_the_credentials_that_are_given_are_used() -> None:
    shared, bearer = "SharedKeyCredentialPolicy", "StorageBearerTokenCredentialPolicy"
    for options, kinds in (
        ({"account_key": KEY}, {shared}),
        ({"credential": _Token()}, {bearer}),
        ({"client_id": "i", "client_secret": "s", "tenant_id": "t"}, {bearer}),
        ({}, {bearer}),
        ({"anon": True}, set()),
    ):
        container = client_of(settings(**options)).container
        steps = container._pipeline._impl_policies
        policies = {type(getattr(each, "_policy", each)).__name__ for each in steps}
        assert policies & {shared, bearer} == kinds
    assert client_of(settings(sas_token="?sig=x")).container.url.endswith("?sig=x")
    with pytest.raises(InvalidInputError, match="azure.identity, and not of azure.identity.aio"):
        settings(credential=_LateToken())


@pytest.mark.slow
def test_a_wrong_key_is_named_and_not_shown(azurite: Azurite, container: str) -> None:
    place = azurite.options()["connection_string"].replace(KEY, KEY[::-1].lstrip("=") + "==")
    store = AzureStore(f"az://{container}/db", {"connection_string": place})
    with pytest.raises(StoreError, match="refuses these credentials .* check the key") as refused:
        store.get("a")
    assert "AccountKey" not in refused.value.message
