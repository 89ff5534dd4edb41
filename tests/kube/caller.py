"""A caller of an API server over one connection: quicker than one kubectl for each request."""

import json
import ssl
from http.client import HTTPSConnection
from pathlib import Path

__all__ = ["Caller"]


class Caller:
    """`ask` returns what the server answered, `done` fails unless the server did it."""

    def __init__(self, kubeconfig: Path) -> None:
        given = json.loads(kubeconfig.read_text())
        (cluster,), (user,) = given["clusters"], given["users"]
        trust = ssl.create_default_context(cafile=cluster["cluster"]["certificate-authority"])
        trust.load_cert_chain(user["user"]["client-certificate"], user["user"]["client-key"])
        address = cluster["cluster"]["server"].removeprefix("https://")
        self._line = HTTPSConnection(address, context=trust, timeout=30)
        self.close = self._line.close

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
        kind = "merge-patch+json" if method == "PATCH" else "json"
        head = {"Content-Type": f"application/{kind}"}
        self._line.request(method, path, None if body is None else json.dumps(body), head)
        answer = self._line.getresponse()
        return answer.status, json.loads(answer.read())

    def done(self, method: str, path: str, body: object = None) -> dict[str, object]:
        code, said = self.ask(method, path, body)
        assert code < 300, (method, path, said.get("message"))
        return said
