"""
Changepoints in the Nile, spikes of a neuron
============================================

The same problem twice: a signal that now and then jumps. Between jumps the Nile stays where it is;
the fluorescence of a neuron decays. In both cases the optimum is exact.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

from ellzero import segment, segment_path
from ellzero.datasets import make_spikes

nile = sm.datasets.nile.load_pandas().data
found = segment(nile["volume"].to_numpy())
year = nile["year"].astype(int).to_numpy()
at = found.changepoints[0]
low, high = found.locations()[0]
print(
    f"the flow falls by {-found.jumps[0]:.0f} in {year[at]}, between {year[low]} and {year[high]}"
)
assert len(found.changepoints) == 1
assert year[at] == 1899

# %%
# A trace with eighteen spikes in noise. Spikes are upward jumps.

y, signal, spikes = make_spikes(2000, decay=0.95, noise=0.25, random_state=0)
trace = segment(y, decay=0.95, jumps="positive")
true = np.flatnonzero(spikes)
hits = sum(np.abs(true - at).min() <= 1 for at in trace.changepoints)
print(f"{len(trace.changepoints)} spikes found, {hits} of them within one sample of a true one")
assert hits == len(trace.changepoints) == 17

figure, (top, bottom) = plt.subplots(2, 1, figsize=(10, 6), layout="constrained")
top.plot(year, nile["volume"], ".", color="#999999")
top.step(year, found.signal, where="post", color="#0072B2", lw=2)
top.axvspan(year[low] - 0.5, year[high] + 0.5, color="#D55E00", alpha=0.2, lw=0)
top.set(title="The Nile at Aswan, and where the jump could be", ylabel="10⁸ m³")
bottom.plot(y, color="#BBBBBB", lw=0.6)
bottom.plot(trace.signal, color="#0072B2", lw=1.4)
bottom.plot(true, np.full(len(true), -0.9), "|", color="#D55E00", ms=9, label="true spikes")
bottom.set(title="A trace with spikes", xlabel="sample", ylabel="fluorescence")
bottom.legend(frameon=False, loc="upper right")
plt.show()

# %%
# Over which prices does each spike last? What stays over a tenfold range is there.

path = segment_path(y, lam_min=0.2, decay=0.95, jumps="positive")
path.plot()
plt.show()
