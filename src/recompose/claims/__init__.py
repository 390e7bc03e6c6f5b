"""Tests of claims: sentences that papers draw from their artifacts, checked against the measured values."""
