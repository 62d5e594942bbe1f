"""Click models, one file each: how users click, what that makes of a ranking, and how a log tells."""

from corebandit.ranking.models.cascade import CM
from corebandit.ranking.models.ccm import CCM
from corebandit.ranking.models.dbn import DBN
from corebandit.ranking.models.dcm import DCM
from corebandit.ranking.models.model import ClickModel
from corebandit.ranking.models.pbm import PBM
from corebandit.ranking.models.sdbn import SDBN
from corebandit.ranking.models.ubm import UBM

CLICK_MODELS: dict[str, type[ClickModel]] = {model.name: model for model in (CM, DCM, PBM, UBM, DBN, SDBN, CCM)}

__all__ = ["CCM", "CLICK_MODELS", "CM", "DBN", "DCM", "PBM", "SDBN", "UBM", "ClickModel"]
