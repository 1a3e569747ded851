"""DeepSpeed's op random_ltd against torch; DeepSpeed has no test of it."""

import pytest
import torch
from deepspeed.ops.random_ltd.dropping_utils import GatherTokens, ScatterTokens, gpt_sample_tokens

BATCH, TOKENS, KEPT, CHANNELS = 3, 1024, 256, 512

if not torch.cuda.is_available():
    pytest.skip("random_ltd runs on GPUs alone", allow_module_level=True)


def tokens(dtype, batch_first):
    shape = (BATCH, TOKENS, CHANNELS) if batch_first else (TOKENS, BATCH, CHANNELS)
    return torch.randn(shape, dtype=dtype, device="cuda")


def sample():
    return gpt_sample_tokens(KEPT, TOKENS, BATCH, layers=2, device="cuda")[0]


def places(indices, batch_first):
    """For torch.gather and scatter: the kept tokens, in the activations' layout."""
    wide = indices.long().unsqueeze(-1).expand(-1, -1, CHANNELS)
    return wide if batch_first else wide.transpose(0, 1)


def test_kept_tokens_are_ascending_and_distinct():
    indices = sample()
    assert indices.shape == (2, BATCH, KEPT)
    assert (indices[..., 1:] > indices[..., :-1]).all()
    assert indices.min() >= 0 and indices.max() < TOKENS


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_gathering_takes_the_kept_tokens(dtype, batch_first):
    activations, indices = tokens(dtype, batch_first), sample()[0]
    _, kept = GatherTokens.apply(activations, indices, batch_first)
    along = 1 if batch_first else 0
    assert torch.equal(kept, torch.gather(activations, along, places(indices, batch_first)))


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_scattering_puts_them_back(dtype, batch_first):
    activations, indices = tokens(dtype, batch_first), sample()[0]
    along, where = (1 if batch_first else 0), places(indices, batch_first)
    new = torch.randn(where.shape, dtype=dtype, device="cuda")
    assert torch.equal(ScatterTokens.apply(activations, new, indices, batch_first), activations.scatter(along, where, new))
