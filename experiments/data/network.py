"""The paper's network for FacExp, trained on the faces whose features it computes."""

from typing import Any

import numpy as np

try:
    import torch
    from torch import nn
except ImportError as error:
    raise RuntimeError("FacExp needs PyTorch for its network: pip install torch") from error

SIDE = 48
FILTERS = (32, 64, 96, 128)
HIDDEN = 256
CLASSES = 7
EPOCHS = 8  # the paper does not say how many
BATCH = 128
RATE = 1e-3


class Network(nn.Module):
    """Four convolutions, each normalized, rectified and pooled; two full layers; a softmax over the expressions."""

    def __init__(self) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        for inputs, outputs in zip((1, *FILTERS), FILTERS, strict=False):
            blocks += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]
        side = SIDE // 2 ** len(FILTERS)
        self.hidden = nn.Sequential(
            *blocks, nn.Flatten(), nn.Linear(side * side * FILTERS[-1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN)
        )
        self.classify = nn.Linear(HIDDEN, CLASSES)

    def forward(self, images: Any) -> Any:
        return self.classify(self.hidden(images))


def as_tensor(images: Any) -> Any:
    """Return a tensor with the channels last, which is faster on CPUs."""
    pixels = torch.from_numpy(images.astype(np.float32) / 255).reshape(-1, 1, SIDE, SIDE)
    return pixels.contiguous(memory_format=torch.channels_last)


def features(images: Any, labels: Any, epochs: int = EPOCHS, seed: int = 0) -> Any:
    """Return (n, 256) float32: the last hidden layer after training."""
    torch.manual_seed(seed)
    network = Network().to(memory_format=torch.channels_last)
    train(network, as_tensor(images), torch.from_numpy(labels), epochs)
    network.eval()
    with torch.no_grad():
        parts = [network.hidden(as_tensor(images[first : first + 1024])) for first in range(0, len(images), 1024)]
    return torch.cat(parts).numpy()


def train(network: Network, images: Any, labels: Any, epochs: int) -> None:
    optimizer, cost = torch.optim.Adam(network.parameters(), lr=RATE), nn.CrossEntropyLoss()
    network.train()
    for epoch in range(epochs):
        correct = 0
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            scores = network(images[batch])
            cost(scores, labels[batch]).backward()
            optimizer.step()
            correct += int((scores.argmax(1) == labels[batch]).sum())
        print(f"epoch {epoch + 1} of {epochs}: {correct / len(images):.3f} right", flush=True)
