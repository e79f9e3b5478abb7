"""A kernel for Jupyter whose cells run in a Gloveport session.

    gloveport kernel install --sys-prefix --policy default
"""
from .kernel import GloveportKernel

__all__ = ["GloveportKernel"]
