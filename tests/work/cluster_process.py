"""A Dask cluster of this machine, with workers in processes of their own, in a process that tests start: a process with
threads is not one to fork from.

Prints the address of its scheduler; each line that comes in is an order: `kill` kills a worker, `close` ends all.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings

from distributed import LocalCluster


def main(workers: int) -> None:
    warnings.simplefilter("ignore")
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        for order in sys.stdin:
            if order.strip() == "kill":
                nanny = next(iter(cluster.workers.values()))
                os.kill(nanny.pid, signal.SIGKILL)
                print("killed", flush=True)
            else:
                return


if __name__ == "__main__":
    main(int(sys.argv[1]))
