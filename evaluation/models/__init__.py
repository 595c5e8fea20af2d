"""The models of what an entry is worth. One module per noun; this is the list of them."""

from evaluation.models.acceptance_test import AcceptanceTest
from evaluation.models.batch import EvaluationBatch
from evaluation.models.definition import PhaseMetric, Reference
from evaluation.models.evaluation import Evaluation, Part
from evaluation.models.pictures import PictureRun
from evaluation.models.process import Process
from evaluation.models.program import MetricProgram
from evaluation.models.properties import PropertyRun
from evaluation.models.remote_worker import ComputeBudget, PartRecord, RemoteWorker, WorkerToken
from evaluation.models.results import ResultTable
from evaluation.models.score import Score

__all__ = [
    "AcceptanceTest",
    "ComputeBudget",
    "Evaluation",
    "EvaluationBatch",
    "MetricProgram",
    "Part",
    "PartRecord",
    "PhaseMetric",
    "PictureRun",
    "Process",
    "PropertyRun",
    "Reference",
    "RemoteWorker",
    "ResultTable",
    "Score",
    "WorkerToken",
]
