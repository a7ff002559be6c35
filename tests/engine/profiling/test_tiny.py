"""The written-out gradients against differences of the loss, and Adam against its first step."""

import math

import numpy as np
import pytest

from engine.profiling.tiny import Adam, Perceptron, Transformer

NETWORKS = {
    "transformer": lambda g: Transformer(
        layers=2, hidden=12, heads=3, vocabulary=7, seq_len=5, batch=2, generator=g, dtype=np.float64
    ),
    "one head": lambda g: Transformer(
        layers=1, hidden=6, heads=1, vocabulary=5, seq_len=1, batch=3, generator=g, dtype=np.float64
    ),
    "perceptron": lambda g: Perceptron(layers=3, hidden=6, batch=4, generator=g, dtype=np.float64),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_are_the_slopes_of_the_loss(name):
    generator = np.random.default_rng(5)
    network = NETWORKS[name](generator)
    batch = network.draw(generator)
    gradients = network.loss_and_gradients(*batch)[1]
    assert gradients.keys() == network.parameters.keys()
    for key, values in network.parameters.items():
        direction, step = generator.standard_normal(values.shape), 1e-6
        losses = []
        for sign in (1, -2):  # to +step, then from there to −step
            values += sign * step * direction
            losses.append(network.loss_and_gradients(*batch)[0])
        values += step * direction
        slope = (losses[0] - losses[1]) / (2 * step)
        assert slope == pytest.approx(float((gradients[key] * direction).sum()), rel=1e-6, abs=1e-8), key


def test_a_transformer_sees_no_later_word():
    network = NETWORKS["transformer"](np.random.default_rng(1))
    outputs = []
    for words in ([1, 2, 3, 4, 5], [1, 2, 3, 0, 0]):
        x = network.parameters["word"][np.array([words])] + network.parameters["place"]
        for n in range(network.layers):
            x = network._feed(n, network._attend(n, x)[0])[0]
        outputs.append(x[0])
    assert np.allclose(outputs[0][:3], outputs[1][:3], atol=1e-12)
    assert not np.allclose(outputs[0][3:], outputs[1][3:], atol=1e-3)


def test_an_untrained_transformer_guesses_and_a_trained_one_remembers_its_batch():
    generator = np.random.default_rng(0)
    network = Transformer(
        layers=1, hidden=32, heads=2, vocabulary=16, seq_len=8, batch=2, generator=generator
    )
    batch, optimizer = network.draw(generator), Adam(network.parameters, rate=1e-2)
    losses = []
    for _ in range(150):
        loss, gradients = network.loss_and_gradients(*batch)
        optimizer.step(gradients)
        losses.append(loss)
    assert losses[0] == pytest.approx(math.log(16), abs=1.0)
    assert losses[-1] < 0.1
    assert all(values.dtype == np.float32 for values in network.parameters.values())


def test_a_perceptron_has_a_square_a_layer_and_half_the_squared_error():
    network = Perceptron(layers=1, hidden=2, batch=1, generator=np.random.default_rng(0))
    network.parameters["0"][...] = [[1, 0], [0, 2]]
    loss, gradients = network.loss_and_gradients(np.array([[3.0, 4.0]]), np.array([[1.0, 8.0]]))
    assert loss == 1.0  # errors 2 and 0; half of the mean of 4 and 0
    assert gradients["0"].tolist() == [[3.0, 0.0], [4.0, 0.0]]  # inputs × (2, 0) / 2


def test_the_first_step_of_adam_is_the_rate_against_the_sign():
    parameters = {"w": np.array([1.0, 1.0, 1.0])}
    Adam(parameters, rate=0.1).step({"w": np.array([5.0, -0.01, 0.0])})
    assert parameters["w"] == pytest.approx([0.9, 1.1, 1.0], abs=1e-6)
