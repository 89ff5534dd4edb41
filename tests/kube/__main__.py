"""
The test cluster by hand: `python -m tests.kube build`, `up` or `where`.

`build` makes the programs, once. `up` starts a cluster, prints how to reach it and ends it with
Ctrl-C. `where` prints the folder with the programs, for the PATH.
"""

import argparse
import signal
import sys

from tests.kube.binaries import MissingClusterError, find_binaries
from tests.kube.build import build
from tests.kube.cluster import Cluster
from tests.kube.process import ClusterError


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kube")
    parser.add_argument("act", choices=["build", "up", "where"], help="default: up", nargs="?",
                        default="up")  # fmt: skip
    acts = {"build": _build, "up": _up, "where": _where}
    try:
        acts[parser.parse_args(arguments).act]()
    except (MissingClusterError, ClusterError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _build() -> None:
    build(lambda line: print(line, flush=True))


def _where() -> None:
    print(find_binaries())


def _up() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Cluster() as cluster:
        print(f"export KUBECONFIG={cluster.kubeconfig()}")
        print(f"export PATH={find_binaries()}:$PATH")
        print(f"# logs are in {cluster.folder}; Ctrl-C ends the cluster", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("# ending the cluster")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
