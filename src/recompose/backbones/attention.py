"""Self-attention of CLIP's towers."""

from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention


class SelfAttention(nn.Module):
    """A tower's multi-head attention, with the parameters of the module that it replaces, under their names.

    ``nn.MultiheadAttention`` transposes tokens to the front, copies them, and multiplies batch by batch, which takes
    longer. In addition, here queries may be fewer than keys.
    """

    def __init__(self, replaced: nn.MultiheadAttention) -> None:
        super().__init__()
        self.num_heads = replaced.num_heads
        self.in_proj_weight, self.in_proj_bias = replaced.in_proj_weight, replaced.in_proj_bias
        self.out_proj = replaced.out_proj

    def forward(self, x: Tensor, *_: Tensor, attn_mask: Tensor | None = None, **__: bool) -> tuple[Tensor, None]:
        """Return tokens [n, length, width] after self-attention, with the signature of open_clip's blocks."""
        return self.attend(*self.project(x), attn_mask), None

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each [n, heads, length, width / heads], of tokens [n, length, width]."""
        joint = linear(x, self.in_proj_weight, self.in_proj_bias)
        queries, keys, values = joint.unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4).unbind()
        return queries, keys, values

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the attention output [n, queries, width]; the mask [queries, keys] is added to the logits."""
        attended = scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return self.out_proj(attended.transpose(1, 2).flatten(2))
