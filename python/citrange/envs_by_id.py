"""Names of our environments in Gymnasium."""

from __future__ import annotations

from typing import Any

#: Id, scene, longest episode in steps, other settings.
IDS: tuple[tuple[str, str | None, int, dict[str, Any]], ...] = (
    ("citrange/Reach-v0", "reach", 150, {"action": "deltas", "reward": "dense"}),
    ("citrange/OrangePlate-v0", "orange_plate", 3600, {}),
    ("citrange/Stack-v0", "multi_table_assembly", 1200, {}),
    ("citrange/BlockBox-v0", "block_box", 1200, {}),
    # Any scene: gym.make("citrange/Scene-v0", scene="mine.yaml").
    ("citrange/Scene-v0", None, 3600, {}),
)


def register() -> None:
    """Tells Gymnasium all ids; those that it knows stay."""
    from gymnasium.envs.registration import register, registry

    for name, scene, steps, more in IDS:
        if name not in registry:
            register(
                name,
                entry_point="citrange.gym:CitrangeEnv",
                vector_entry_point="citrange.gym:CitrangeVectorEnv",
                max_episode_steps=steps,
                kwargs={**({} if scene is None else {"scene": scene}), **more},
            )
