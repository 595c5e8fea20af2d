"""The models of what an entry is worth. One module per noun; this is the list of them."""

from evaluation.models.batch import EvaluationBatch
from evaluation.models.definition import PhaseMetric, Reference
from evaluation.models.evaluation import Evaluation, Part
from evaluation.models.pictures import PictureRun
from evaluation.models.process import Process
from evaluation.models.program import MetricProgram
from evaluation.models.remote_worker import ComputeBudget, PartRecord, RemoteWorker, WorkerToken
from evaluation.models.results import ResultTable
from evaluation.models.score import Score
from evaluation.models.suite_run import SuiteRun

__all__ = [
    "ComputeBudget",
    "Evaluation",
    "EvaluationBatch",
    "MetricProgram",
    "Part",
    "PartRecord",
    "PhaseMetric",
    "PictureRun",
    "Process",
    "Reference",
    "RemoteWorker",
    "ResultTable",
    "Score",
    "SuiteRun",
    "WorkerToken",
]
