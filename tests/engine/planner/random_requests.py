"""Random requests for property tests: every kind of workload on every kind of hardware."""

from hypothesis import strategies as st

MODELS = [
    "Qwen/Qwen2.5-7B-Instruct",
    "gpt2",
    "meta-llama/Llama-3.1-70B",
    "qwen2.5-0.5b",
    "llama-3.2-1b-base",
    "never-heard-of",
]
GPUS = ["h100", "A100-40GB", "a100-80gb", "rtx4090", "l4", "T4", "mystery", None]
LINKS = ["same_host_nvlink", "same_host_pcie", "multi_node_ib", "multi_node_100g", "multi_node_10g", "wan"]


def maybe(strategy):
    return st.none() | strategy


transformer = {
    "model": st.sampled_from(MODELS),
    "parameters_b": maybe(st.floats(0.05, 500)),
    "activation_checkpointing": maybe(st.booleans()),
    "train_tokens_m": maybe(st.floats(1e-3, 1e7)),
    "micro_batch_per_gpu": st.integers(1, 16),
    "hidden_size": maybe(st.integers(256, 20_000)),
    "num_layers": maybe(st.integers(1, 130)),
}
finetune = st.fixed_dictionaries(
    {
        "kind": st.just("transformer_finetune"),
        "method": st.sampled_from(["full", "lora", "qlora"]),
        "lora_rank": st.integers(1, 256),
        "precision": st.sampled_from(["bf16", "fp16", "fp32"]),
        "optimizer": st.sampled_from(["adamw", "adamw_8bit", "sgd_momentum"]),
        "seq_len": st.integers(64, 32_768),
        "grad_accum": st.integers(1, 64),
        **transformer,
    }
)
pretrain = st.fixed_dictionaries(
    {
        "kind": st.just("transformer_pretrain"),
        "seq_len": st.sampled_from([512, 4096, 8192]),
        "global_batch": st.sampled_from([1, 96, 512, 2048]),
        **transformer,
    }
)
generic = st.fixed_dictionaries(
    {
        "kind": st.just("pytorch_training"),
        "parameters_m": st.floats(0.01, 50_000),
        "trainable_fraction": st.floats(0.001, 1),
        "precision": st.sampled_from(["bf16", "fp16", "fp32"]),
        "activation_gb_per_gpu": maybe(st.floats(0.1, 100)),
        "est_train_gpu_hours": maybe(st.floats(0.01, 1e5)),
    }
)
classical = st.fixed_dictionaries(
    {
        "kind": st.just("classical_ml"),
        "dataset_mb": st.floats(0.1, 1e6),
        "supports_partial_fit": st.booleans(),
    }
)
tasks = st.fixed_dictionaries(
    {
        "kind": st.just("independent_tasks"),
        "task_count": st.integers(1, 5000),
        "est_minutes_per_task": st.floats(0.01, 1e4),
        "needs_gpu": st.booleans(),
        "vram_gb_per_task": st.floats(0, 100),
    }
)


@st.composite
def resources(draw, counts):
    gpus = draw(counts)
    divisors = [hosts for hosts in (1, 2, 3, 4, 8, 16) if hosts <= max(1, gpus)]
    return {
        "gpus": gpus,
        "gpu_type": draw(st.sampled_from(GPUS)),
        "vram_gb": draw(maybe(st.floats(1, 300))),
        "hosts": draw(st.sampled_from(divisors)),
        "interconnect": draw(st.sampled_from(LINKS)),
        "cpu_ram_gb": draw(st.floats(1, 2000)),
        "cpu_cores": draw(st.integers(1, 256)),
        "hourly_cost_usd_per_gpu": draw(maybe(st.floats(0, 20))),
    }


objective = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["cheapest", "fastest", "balanced", "reliable"]),
        "max_cost_usd": maybe(st.floats(0.1, 1e6)),
        "deadline_minutes": maybe(st.floats(0.1, 1e6)),
        "allow_quantization": st.booleans(),
        "allow_cpu_offload": st.booleans(),
        "allow_nvme_offload": st.booleans(),
    }
)
counts = st.integers(0, 200)
kinds = {
    "finetune": finetune,
    "generic": generic,
    "classical": classical,
    "tasks": tasks,
    "pretrain": pretrain,
}
requests = st.fixed_dictionaries(
    {"workload": st.one_of(finetune, *kinds.values()), "resources": resources(counts), "objective": objective}
)
