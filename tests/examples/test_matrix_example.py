"""The matrix example is the documented one; only what had to change is changed."""

from __future__ import annotations

from sandbox.act.rc import ROOT, local_repositories
from sandbox.act.staging import our_repository

# As documented for the OMSF actions, word for word.
CALLER = """\
name: Matrix Test Caller

on:
  workflow_dispatch:

jobs:
  matrix-test:
    name: Run Matrix Test
    strategy:
      fail-fast: false
      matrix:
        # Add the GPU-capable instance types you want to test.
        instance_type: ["g4dn.xlarge", "g4dn.2xlarge"]
    uses: ./.github/workflows/reusable-matrix-test.yaml
    permissions:
      id-token: write
      contents: read
    with:
      instance_type: ${{ matrix.instance_type }}
    secrets: inherit
"""

REUSABLE = """\
name: Reusable Matrix Test

on:
  workflow_call:
    inputs:
      instance_type:
        required: true
        type: string

jobs:
  start-aws-runner:
    runs-on: ubuntu-latest
    permissions:
      id-token: write
      contents: read
    outputs:
      mapping: ${{ steps.aws-start.outputs.mapping }}
      instances: ${{ steps.aws-start.outputs.instances }}
    steps:
      - name: Configure AWS credentials
        uses: aws-actions/configure-aws-credentials@e1253824e5c10ff9df46874f81ed3ec929e19cfd # v6.3.0
        with:
          role-to-assume: ${{ secrets.AWS_ROLE }}
          aws-region: us-east-1
      - name: Create cloud runner
        id: aws-start
        uses: omsf/start-aws-gha-runner@8523c3b2474a899636f06e6cab4829c853e107dc # v1.4.0
        with:
          aws_image_name: <The name of your AMI you want to use>
          aws_image_id: latest
          aws_instance_type: ${{ inputs.instance_type }}
          aws_home_dir: /home/ubuntu
        env:
          GH_PAT: ${{ secrets.GH_PAT }}
  test:
    runs-on: ${{ fromJSON(needs.start-aws-runner.outputs.instances) }}
    needs:
      - start-aws-runner
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
      - name: Run test
        run: |
          # Replace this with your project's test commands.
          nvidia-smi
  stop-aws-runner:
    runs-on: ubuntu-latest
    permissions:
      id-token: write
      contents: read
    needs:
      - start-aws-runner
      - test
    if: ${{ always() }}
    steps:
      - name: Configure AWS credentials
        uses: aws-actions/configure-aws-credentials@e1253824e5c10ff9df46874f81ed3ec929e19cfd # v6.3.0
        with:
          role-to-assume: ${{ secrets.AWS_ROLE }}
          aws-region: us-east-1
      - name: Stop instances
        uses: omsf/stop-aws-gha-runner@a3d2e34cba8571eaf9b40ae00705d6b2b77402f6 # v1.0.0
        with:
          instance_mapping: ${{ needs.start-aws-runner.outputs.mapping }}
        env:
          GH_PAT: ${{ secrets.GH_PAT }}
"""  # noqa: E501

# The documented line, and ours in its place.
CHANGED = {
    "        uses: omsf/start-aws-gha-runner@8523c3b2474a899636f06e6cab4829c853e107dc # v1.4.0": (
        "        uses: {start} # v0.1.0"
    ),
    "        uses: omsf/stop-aws-gha-runner@a3d2e34cba8571eaf9b40ae00705d6b2b77402f6 # v1.0.0": (
        "        uses: {stop} # v0.1.0"
    ),
    "          aws_image_name: <The name of your AMI you want to use>": (
        "          aws_image_name: Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)"
    ),
}


def test_the_caller_workflow_is_the_documented_one() -> None:
    assert (ROOT / "examples/workflows/matrix-test.yaml").read_text() == CALLER


def test_the_reusable_workflow_differs_in_its_two_uses_lines_and_the_image_to_fill_in() -> None:
    repository, ref = our_repository().split("@")
    names = {
        "start": f"{repository}/start-runner@{ref}",
        "stop": f"{repository}/stop-runner@{ref}",
    }
    expected = [
        CHANGED[line].format(**names) if line in CHANGED else line for line in REUSABLE.splitlines()
    ]
    ours = (ROOT / "examples/workflows/reusable-matrix-test.yaml").read_text()
    assert ours.splitlines() == expected
    assert ours.endswith("\n")


def test_every_documented_line_to_change_is_in_the_documented_text() -> None:
    assert set(CHANGED) <= set(REUSABLE.splitlines())


def test_the_credentials_action_of_the_example_has_a_stand_in() -> None:
    (ref,) = {
        line.split("uses: ")[1].split(" #")[0]
        for line in REUSABLE.splitlines()
        if "uses: aws-actions/" in line
    }
    assert (ROOT / local_repositories()[ref] / "action.yml").is_file()
