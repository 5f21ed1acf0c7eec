"""What was made of a model lately is found again; no more of it is kept than is needed."""

import polhode as ph
from polhode.model.per_model_cache import KEPT, MOST, once_each


def test_results_are_made_once_and_the_oldest_are_let_go():
    model, made = ph.load("pendulum"), []

    @once_each
    def counted(model, k):
        made.append(k)
        return [k]

    first = counted(model, 0)
    assert counted(model, 0) is first
    for k in range(1, MOST + 1):
        counted(model, k)
    assert counted(model, MOST) == [MOST]
    assert made == list(range(MOST + 1))
    assert counted(model, 0) == [0]
    assert made[-1] == 0


def test_results_of_few_models_are_kept():
    made = []

    @once_each
    def counted(model):
        made.append(model)
        return model.name

    models = [ph.load("pendulum") for _ in range(KEPT + 1)]
    for model in (*models, models[0]):
        counted(model)
    assert len(made) == KEPT + 2
