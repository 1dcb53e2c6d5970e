#!/usr/bin/env python3
"""accounting.py: golden values for test/modules/ledger_test/sql/golden.sql.

Accounts the histories in history.json, which dp_export_events() wrote, by Google's
library dp_accounting and prints the rows that golden.sql compares with:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install dp-accounting==0.4.4
    /tmp/venv/bin/python test/golden/accounting.py < test/golden/history.json

Not run by make check: it needs the library.  history.json is what golden.sql's query
"SELECT jsonb_pretty(history)" prints; golden.sql fails if the two differ.

Of each history, at its delta:
  low, high   bounds of the exact epsilon, by privacy loss distributions (PLD) rounded
              down and up; a kind "pure" as randomised response, which is the worst
              that is pure, and "exponential" as a choice between two
  rdp         by Renyi differential privacy, its orders dense; nan where the library
              has no event
"""
import functools
import json
import math
import sys

from dp_accounting import dp_event, rdp
from dp_accounting.pld import privacy_loss_distribution as pld

STEP = 1e-5  # of the discretised loss
ORDERS = [1 + 1.05**i for i in range(-60, 140)]


def leaves(node, times=1):
    """The events of a history, each with how often it happens."""
    name = node["class_name"]
    if name == "ComposedDpEvent":
        for event in node["events"]:
            yield from leaves(event, times)
    elif name == "SelfComposedDpEvent":
        yield from leaves(node["event"], times * node["count"])
    else:
        yield node, times


def distribution(node, up):
    """Its privacy loss distribution, rounded up or down; None if it is in the sums."""
    name = node["class_name"]
    rounding = dict(pessimistic_estimate=up, value_discretization_interval=STEP)
    if name == "LaplaceDpEvent":
        return pld.from_laplace_mechanism(
            node["noise_multiplier"], use_connect_dots=up, **rounding)
    if node.get("kind") in ("pure", "exponential"):
        epsilon = node["epsilon"] / (1 if node["kind"] == "pure" else 2)
        return pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, **rounding)
    return None


def bound(history, up):
    """The exact epsilon of a history, from above or below."""
    losses, mu2, slack, kept = [], 0.0, 0.0, 1.0
    for node, times in leaves(history):
        loss = distribution(node, up)
        if node["class_name"] == "GaussianDpEvent":
            mu2 += times / node["noise_multiplier"]**2
        elif loss is not None:
            losses.append(loss.self_compose(times))
        else:
            slack += times * node["epsilon"]
            kept *= (1 - node["delta"])**times
    if mu2 > 0:
        losses.append(pld.from_gaussian_mechanism(
            1 / math.sqrt(mu2), pessimistic_estimate=up, value_discretization_interval=STEP,
            use_connect_dots=up))
    total = functools.reduce(lambda a, b: a.compose(b), losses)
    delta = (history["delta"] - (1 - kept)) / kept
    if not up:
        return total.get_epsilon_for_delta(delta)
    return total.get_epsilon_for_delta(delta * math.exp(-slack)) + slack


def renyi(history):
    accountant = rdp.RdpAccountant(ORDERS)
    slack, kept = 0.0, 1.0
    for node, times in leaves(history):
        name = node["class_name"]
        if node.get("kind") in ("pure", "exponential"):
            return math.nan
        if name == "DifferentialPrivacyParameters":
            slack += times * node["epsilon"]
            kept -= times * node["delta"]
        else:
            accountant.compose(getattr(dp_event, name)(node["noise_multiplier"]), times)
    return accountant.get_epsilon(history["delta"] - (1 - kept)) + slack


for name, history in json.load(sys.stdin).items():
    low = math.floor(bound(history, False) * 1e5) / 1e5
    high = math.ceil(bound(history, True) * 1e5) / 1e5
    print("\t('%s', %.5f, %.5f, '%.5f')," % (name, low, high, renyi(history)), flush=True)
