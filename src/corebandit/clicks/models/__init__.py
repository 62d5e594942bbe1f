"""Click models, one file each: how users click, what that makes of a ranking, and how a log tells."""

from corebandit.clicks.models.cascade import CM
from corebandit.clicks.models.ccm import CCM
from corebandit.clicks.models.dbn import DBN
from corebandit.clicks.models.dcm import DCM
from corebandit.clicks.models.model import ClickModel
from corebandit.clicks.models.pbm import PBM
from corebandit.clicks.models.sdbn import SDBN
from corebandit.clicks.models.ubm import UBM

CLICK_MODELS: dict[str, type[ClickModel]] = {model.name: model for model in (CM, DCM, PBM, UBM, DBN, SDBN, CCM)}

__all__ = ["CCM", "CLICK_MODELS", "CM", "DBN", "DCM", "PBM", "SDBN", "UBM", "ClickModel"]
