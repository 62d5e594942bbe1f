"""Online learning to rank: click models, fitted from logs and simulated."""

from corebandit.ranking.fitting import Fitted, FittedModel, fit
from corebandit.ranking.log import ClickLog, Dropped, Sessions
from corebandit.ranking.models import CCM, CLICK_MODELS, CM, DBN, DCM, PBM, SDBN, UBM, ClickModel
from corebandit.ranking.quality import Quality
from corebandit.ranking.readers import FileLog, read_log
from corebandit.ranking.readers.summary import LogSummary, most_shown_pages, summarise
from corebandit.ranking.readers.writing import write_log, write_simulated_log
from corebandit.ranking.simulation import simulate
from corebandit.ranking.stored import read_documents, read_models, write_models

__all__ = [
    "CCM",
    "CLICK_MODELS",
    "CM",
    "DBN",
    "DCM",
    "PBM",
    "SDBN",
    "UBM",
    "ClickLog",
    "ClickModel",
    "Dropped",
    "FileLog",
    "Fitted",
    "FittedModel",
    "LogSummary",
    "Quality",
    "Sessions",
    "fit",
    "most_shown_pages",
    "read_documents",
    "read_log",
    "read_models",
    "simulate",
    "summarise",
    "write_log",
    "write_models",
    "write_simulated_log",
]
