"""A call that may take too long, or fail."""

import signal
import time
import warnings

import numpy as np


class Late(Exception):
    """The call took too long."""


def run(call, seconds):
    """The call's result, or None and the reason why there is none; and the seconds it took."""

    def interrupt(*_):
        raise Late

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    start = time.perf_counter()
    result, failure = None, None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = call()
    except Late:
        failure = f"no answer in {seconds:g} s"
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        failure = type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return result, failure, time.perf_counter() - start
