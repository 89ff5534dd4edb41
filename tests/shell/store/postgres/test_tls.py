"""A ledger that is to be reached over TLS, and what stands in the way of it."""

import asyncio
import os

import pytest

from gnomon.errors import DefinitionError, StoreError
from gnomon.shell.store.postgres.fault import check_address
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.clauses import clause
from tests.postgres.server import Server

ADDRESS = f"127.88.{os.getpid() % 250}.1"


@clause("PG-9")
def test_a_server_without_tls_is_told_from_one_that_is_away() -> None:
    server = Server()
    server.create()
    try:
        server.listen(ADDRESS)
        url = f"postgresql://postgres@{ADDRESS}/postgres?sslmode=require"
        with pytest.raises(StoreError) as raised:
            asyncio.run(PostgresLedger.open(url))
    finally:
        server.remove()

    assert raised.value.reason == "does not speak TLS, which the address asks for"
    assert not raised.value.transient


@clause("PG-11")
@pytest.mark.parametrize("name", ["sslrootcert", "sslcert", "sslkey", "sslcrl"])
def test_a_file_that_is_not_there_is_named_by_its_parameter(name: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        check_address(f"postgresql://host/books?sslmode=verify-full&{name}=/no/such/file")

    assert raised.value.reason == f"names a file for {name} that is not there"
